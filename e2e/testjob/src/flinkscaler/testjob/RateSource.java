package flinkscaler.testjob;

import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.connector.source.Boundedness;
import org.apache.flink.api.connector.source.Source;
import org.apache.flink.api.connector.source.SourceReader;
import org.apache.flink.api.connector.source.SourceReaderContext;
import org.apache.flink.api.connector.source.SplitEnumerator;
import org.apache.flink.api.connector.source.SplitEnumeratorContext;
import org.apache.flink.core.io.SimpleVersionedSerializer;

/** A FLIP-27 source over a {@link RateLog} with a fixed number of splits, as a topic has partitions. */
public final class RateSource implements Source<Long, RateSplit, List<RateSplit>> {
    private static final long serialVersionUID = 1L;

    private final String rateFile;
    private final int splits;

    RateSource(String rateFile, int splits) {
        this.rateFile = rateFile;
        this.splits = splits;
    }

    @Override
    public Boundedness getBoundedness() {
        return Boundedness.CONTINUOUS_UNBOUNDED;
    }

    @Override
    public SourceReader<Long, RateSplit> createReader(SourceReaderContext context) {
        return new RateReader(context, new RateLog(rateFile), splits);
    }

    @Override
    public SplitEnumerator<RateSplit, List<RateSplit>> createEnumerator(SplitEnumeratorContext<RateSplit> context) {
        List<RateSplit> all = new ArrayList<>();
        for (int number = 0; number < splits; number++) {
            all.add(new RateSplit(number, 0));
        }
        return new RateEnumerator(context, all);
    }

    @Override
    public SplitEnumerator<RateSplit, List<RateSplit>> restoreEnumerator(
            SplitEnumeratorContext<RateSplit> context, List<RateSplit> unassigned) {
        return new RateEnumerator(context, unassigned);
    }

    @Override
    public SimpleVersionedSerializer<RateSplit> getSplitSerializer() {
        return new SplitSerializer();
    }

    @Override
    public SimpleVersionedSerializer<List<RateSplit>> getEnumeratorCheckpointSerializer() {
        return new SplitListSerializer();
    }
}
