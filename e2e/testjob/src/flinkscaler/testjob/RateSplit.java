package flinkscaler.testjob;

import org.apache.flink.api.connector.source.SourceSplit;

/**
 * One partition of the arrivals. Of {@code n} splits the one with number {@code i} holds the records i, i+n, i+2n, ...
 * Immutable; a reader keeps its own position.
 */
public final class RateSplit implements SourceSplit {
    final int number;
    final long offset;

    RateSplit(int number, long offset) {
        this.number = number;
        this.offset = offset;
    }

    @Override
    public String splitId() {
        return "s" + number;
    }
}
