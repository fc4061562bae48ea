package flinkscaler.testjob;

import java.util.concurrent.locks.LockSupport;
import org.apache.flink.api.common.functions.RichMapFunction;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;

/**
 * Counts records per key and spends a fixed time on each by sleeping.
 *
 * <p>A sleeping task counts as busy in Flink's metrics but uses no CPU, so many subtasks fit on a small machine and one
 * subtask handles exactly 1,000,000 / cost records a second. Sleeps are gathered into a debt and slept off in slices,
 * since a single sleep is imprecise by more than a record's cost.
 *
 * <p>Told the number of keys, it checks each record against its key's count: of n keys the record r is number r/n of its
 * key. It fails when they differ, since a record was lost or doubled then; and it shows the first record that it got.
 */
final class CostlyMap extends RichMapFunction<Long, Long> {
    private static final long serialVersionUID = 1L;

    /** Debt worth sleeping for: well above the imprecision of a sleep, well below anything a metric can see. */
    private static final long SLICE_NANOS = 2_000_000;

    /**
     * Most that an overlong sleep may earn. Within it late wake-ups on a busy machine are made up for; beyond it (a
     * stopped process) the time is lost, as it would be for real work.
     */
    private static final long MOST_CREDIT_NANOS = 100_000_000;

    /** Records until it fails at a size at which it does: it runs for a moment, as real jobs do. */
    private static final long FAILS_AFTER = 200;

    private final long costNanos;
    private final int failAt;
    /** Number of keys, or 0 when records are not checked. */
    private final int exactKeys;
    private transient long records;
    private transient Long first;
    private transient long debtNanos;
    private transient ValueState<Long> seen;

    CostlyMap(long costMicros, int failAt, int exactKeys) {
        costNanos = costMicros * 1000;
        this.failAt = failAt;
        this.exactKeys = exactKeys;
    }

    @Override
    public Long map(Long record) throws Exception {
        fail();
        count(record);
        pay();
        return record;
    }

    private void fail() {
        if (failAt <= 0 || ++records < FAILS_AFTER) {
            return;
        }
        int size = Subtasks.count(getRuntimeContext());
        if (size >= failAt) {
            throw new IllegalStateException("Insufficient number of network buffers for " + size + " subtasks");
        }
        records = 0;
    }

    /** The state is asked for here and not in open(): the signature of open() differs between Flink versions. */
    private void count(Long record) throws Exception {
        if (seen == null) {
            seen = getRuntimeContext().getState(new ValueStateDescriptor<>("seen", Types.LONG));
        }
        Long before = seen.value();
        long count = before == null ? 0L : before;
        check(record, count);
        seen.update(count + 1);
    }

    /** A record is checked before it counts, and what it finds wrong stays wrong after every restart. */
    private void check(long record, long count) {
        if (exactKeys == 0) {
            return;
        }
        if (first == null) {
            first = record;
            getRuntimeContext().getMetricGroup().gauge("first", () -> first);
        }
        if (record / exactKeys != count) {
            throw new IllegalStateException(
                    "Not exactly once: record " + record + " is number " + record / exactKeys + " of its key, which has "
                            + count);
        }
    }

    private void pay() {
        debtNanos += costNanos;
        if (debtNanos < SLICE_NANOS) {
            return;
        }
        long start = System.nanoTime();
        LockSupport.parkNanos(debtNanos);
        debtNanos = Math.max(debtNanos - (System.nanoTime() - start), -MOST_CREDIT_NANOS);
    }
}
