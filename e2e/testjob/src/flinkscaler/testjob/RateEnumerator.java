package flinkscaler.testjob;

import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.connector.source.SplitEnumerator;
import org.apache.flink.api.connector.source.SplitEnumeratorContext;

/**
 * Hands out the splits round robin, once every reader is there: given out earlier, the first reader would get them all.
 */
final class RateEnumerator implements SplitEnumerator<RateSplit, List<RateSplit>> {
    private final SplitEnumeratorContext<RateSplit> context;
    private final List<RateSplit> unassigned;

    RateEnumerator(SplitEnumeratorContext<RateSplit> context, List<RateSplit> unassigned) {
        this.context = context;
        this.unassigned = new ArrayList<>(unassigned);
    }

    @Override
    public void start() {}

    @Override
    public void addReader(int subtask) {
        assignWhenComplete();
    }

    @Override
    public void addSplitsBack(List<RateSplit> splits, int subtask) {
        unassigned.addAll(splits);
        assignWhenComplete();
    }

    /** Readers never ask: they get their splits unasked. */
    @Override
    public void handleSplitRequest(int subtask, String requesterHostname) {}

    @Override
    public List<RateSplit> snapshotState(long checkpointId) {
        return new ArrayList<>(unassigned);
    }

    @Override
    public void close() {}

    private void assignWhenComplete() {
        int readers = context.currentParallelism();
        if (context.registeredReaders().size() < readers) {
            return;
        }
        for (RateSplit split : unassigned) {
            context.assignSplit(split, split.number % readers);
        }
        unassigned.clear();
    }
}
