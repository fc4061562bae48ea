package flinkscaler.testjob;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.core.io.SimpleVersionedSerializer;

/** Writes splits as pairs of number and offset. */
final class SplitListSerializer implements SimpleVersionedSerializer<List<RateSplit>> {
    private static final int BYTES_PER_SPLIT = Integer.BYTES + Long.BYTES;

    @Override
    public int getVersion() {
        return 1;
    }

    @Override
    public byte[] serialize(List<RateSplit> splits) {
        ByteBuffer buffer = ByteBuffer.allocate(BYTES_PER_SPLIT * splits.size());
        for (RateSplit split : splits) {
            buffer.putInt(split.number).putLong(split.offset);
        }
        return buffer.array();
    }

    @Override
    public List<RateSplit> deserialize(int version, byte[] bytes) {
        List<RateSplit> splits = new ArrayList<>();
        ByteBuffer buffer = ByteBuffer.wrap(bytes);
        while (buffer.hasRemaining()) {
            splits.add(new RateSplit(buffer.getInt(), buffer.getLong()));
        }
        return splits;
    }
}
