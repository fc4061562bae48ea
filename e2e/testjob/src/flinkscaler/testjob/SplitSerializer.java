package flinkscaler.testjob;

import java.util.Collections;
import org.apache.flink.core.io.SimpleVersionedSerializer;

/** Writes one split as a list of one. */
final class SplitSerializer implements SimpleVersionedSerializer<RateSplit> {
    private final SplitListSerializer lists = new SplitListSerializer();

    @Override
    public int getVersion() {
        return lists.getVersion();
    }

    @Override
    public byte[] serialize(RateSplit split) {
        return lists.serialize(Collections.singletonList(split));
    }

    @Override
    public RateSplit deserialize(int version, byte[] bytes) {
        return lists.deserialize(version, bytes).get(0);
    }
}
