package flinkscaler.testjob;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.apache.flink.api.connector.source.ReaderOutput;
import org.apache.flink.api.connector.source.SourceReader;
import org.apache.flink.api.connector.source.SourceReaderContext;
import org.apache.flink.core.io.InputStatus;
import org.apache.flink.metrics.Counter;

/**
 * Emits what has arrived in its splits and reports the rest as pendingRecords.
 *
 * <p>All calls come from the task's thread but two: the metrics thread reads the pending records and the clock thread
 * wakes an idle reader. The first is why the splits are guarded, the second why the future is volatile.
 */
final class RateReader implements SourceReader<Long, RateSplit> {
    /** Longest wait for a record that arrived while the reader was idle. */
    private static final long WAKE_EVERY_MILLIS = 10;

    private final SourceReaderContext context;
    private final RateLog log;
    private final int allSplits;
    private final Counter recordsIn;
    private final List<Position> positions = new ArrayList<>();
    private int next;
    private ScheduledExecutorService clock;
    private volatile CompletableFuture<Void> available = new CompletableFuture<>();

    RateReader(SourceReaderContext context, RateLog log, int allSplits) {
        this.context = context;
        this.log = log;
        this.allSplits = allSplits;
        this.recordsIn = context.metricGroup().getIOMetricGroup().getNumRecordsInCounter();
    }

    /** Where this reader is in one split. */
    private static final class Position {
        final int split;
        long offset;

        Position(RateSplit split) {
            this.split = split.number;
            this.offset = split.offset;
        }
    }

    @Override
    public void start() {
        context.metricGroup().setPendingRecordsGauge(this::pending);
        clock = Executors.newSingleThreadScheduledExecutor(RateReader::clockThread);
        clock.scheduleAtFixedRate(
                () -> available.complete(null), WAKE_EVERY_MILLIS, WAKE_EVERY_MILLIS, TimeUnit.MILLISECONDS);
    }

    private static Thread clockThread(Runnable work) {
        Thread thread = new Thread(work, "rate-clock");
        thread.setDaemon(true);
        return thread;
    }

    @Override
    public InputStatus pollNext(ReaderOutput<Long> output) {
        long record = take();
        if (record < 0) {
            available = new CompletableFuture<>();
            return InputStatus.NOTHING_AVAILABLE;
        }
        recordsIn.inc();
        output.collect(record);
        return InputStatus.MORE_AVAILABLE;
    }

    /** The next record of the splits in turn, or -1. */
    private synchronized long take() {
        long arrived = log.arrived(System.currentTimeMillis());
        for (int tried = 0; tried < positions.size(); tried++) {
            Position position = positions.get(next);
            next = (next + 1) % positions.size();
            if (position.offset < arrivedIn(position.split, arrived)) {
                return position.split + allSplits * position.offset++;
            }
        }
        return -1;
    }

    private synchronized long pending() {
        long arrived = log.arrived(System.currentTimeMillis());
        long pending = 0;
        for (Position position : positions) {
            pending += Math.max(0, arrivedIn(position.split, arrived) - position.offset);
        }
        return pending;
    }

    /** How many of the first so many records belong to a split. */
    private long arrivedIn(int split, long arrived) {
        return (arrived + allSplits - 1 - split) / allSplits;
    }

    @Override
    public synchronized void addSplits(List<RateSplit> splits) {
        for (RateSplit split : splits) {
            positions.add(new Position(split));
        }
        available.complete(null);
    }

    @Override
    public synchronized List<RateSplit> snapshotState(long checkpointId) {
        List<RateSplit> splits = new ArrayList<>();
        for (Position position : positions) {
            splits.add(new RateSplit(position.split, position.offset));
        }
        return splits;
    }

    @Override
    public CompletableFuture<Void> isAvailable() {
        return available;
    }

    /** There are always more records to come. */
    @Override
    public void notifyNoMoreSplits() {}

    @Override
    public void close() {
        if (clock != null) {
            clock.shutdownNow();
        }
    }
}
