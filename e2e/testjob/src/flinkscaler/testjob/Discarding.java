package flinkscaler.testjob;

import org.apache.flink.streaming.api.datastream.DataStream;

/**
 * Ends a stream in Flink's discarding sink.
 *
 * <p>Flink 1.18 has only the old kind of sink and Flink 2 only the new one. Each call sits in a class of its own, which
 * the JVM loads, and links with Flink's classes, only when that call is made.
 */
final class Discarding {
    private static final String NEW_SINK = "org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink";

    private Discarding() {}

    static void discard(DataStream<Long> stream) {
        if (exists(NEW_SINK)) {
            New.discard(stream);
        } else {
            Old.discard(stream);
        }
    }

    private static boolean exists(String className) {
        try {
            Class.forName(className, false, DataStream.class.getClassLoader());
            return true;
        } catch (ClassNotFoundException e) {
            return false;
        }
    }

    /** From 1.19 on. */
    private static final class New {
        static void discard(DataStream<Long> stream) {
            stream.sinkTo(new org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink<>())
                    .name("sink")
                    .uid("sink");
        }
    }

    /** Up to 1.18. */
    private static final class Old {
        @SuppressWarnings("deprecation")
        static void discard(DataStream<Long> stream) {
            stream.addSink(new org.apache.flink.streaming.api.functions.sink.DiscardingSink<>())
                    .name("sink")
                    .uid("sink");
        }
    }
}
