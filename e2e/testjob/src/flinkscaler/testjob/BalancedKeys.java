package flinkscaler.testjob;

import org.apache.flink.api.java.functions.KeySelector;
import org.apache.flink.runtime.state.KeyGroupRangeAssignment;

/**
 * Spreads records over keys that fall evenly into Flink's key groups.
 *
 * <p>Keys taken as they come hash into key groups unevenly: with 2000 keys in 24 groups the busiest subtask gets some
 * 20 percent more than its share, and the capacity at a parallelism is no longer known. Here key i is the next number
 * whose key group is i modulo the max parallelism, so every group gets the same number of keys and of records.
 */
final class BalancedKeys implements KeySelector<Long, Long> {
    private static final long serialVersionUID = 1L;

    private final long[] keys;

    BalancedKeys(int count, int maxParallelism) {
        keys = choose(count, maxParallelism);
    }

    @Override
    public Long getKey(Long record) {
        return keys[(int) (record % keys.length)];
    }

    /** Walks the numbers upwards and gives each to its key group until every group has its share. */
    private static long[] choose(int count, int maxParallelism) {
        long[] chosen = new long[count];
        int[] taken = new int[maxParallelism];
        int found = 0;
        for (long candidate = 0; found < count; candidate++) {
            int group = KeyGroupRangeAssignment.assignToKeyGroup(candidate, maxParallelism);
            long place = group + (long) taken[group] * maxParallelism;
            if (place < count) {
                chosen[(int) place] = candidate;
                taken[group]++;
                found++;
            }
        }
        return chosen;
    }
}
