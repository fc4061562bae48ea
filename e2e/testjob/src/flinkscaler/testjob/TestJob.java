package flinkscaler.testjob;

import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/**
 * The job under test: source {@code gen} -> keyed map {@code slow} -> discarding sink.
 *
 * <p>Only API that is the same from Flink 1.18 to 2.3 is used, so that one jar serves all of them. Every operator has
 * a uid: vertex ids are then the same on every version and after every submission.
 */
public final class TestJob {
    private TestJob() {}

    public static void main(String[] args) throws Exception {
        JobArguments arguments = JobArguments.parse(args);
        if (arguments.hangAt > 0 && arguments.slowParallelism >= arguments.hangAt) {
            Thread.sleep(Long.MAX_VALUE); // as a program does that waits for something outside
        }
        StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment();
        env.setMaxParallelism(arguments.maxParallelism);

        DataStream<Long> generated =
                env.fromSource(
                                new RateSource(arguments.rateFile, arguments.splits),
                                WatermarkStrategy.noWatermarks(),
                                "gen",
                                Types.LONG)
                        .uid("gen");
        if (arguments.slowParallelism > 0) {
            env.setParallelism(arguments.slowParallelism);
        }
        DataStream<Long> worked =
                generated
                        .keyBy(new BalancedKeys(arguments.keys, arguments.maxParallelism), Types.LONG)
                        .map(new CostlyMap(arguments.costMicros, arguments.failAt, arguments.exact ? arguments.keys : 0))
                        .returns(Types.LONG)
                        .name("slow")
                        .uid("slow");
        Discarding.discard(worked);

        env.execute(arguments.name);
    }
}
