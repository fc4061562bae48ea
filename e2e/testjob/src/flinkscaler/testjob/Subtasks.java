package flinkscaler.testjob;

import org.apache.flink.api.common.functions.RuntimeContext;

/** Asks how many subtasks there are of the one that asks. */
final class Subtasks {
    private Subtasks() {}

    /** Flink 1.18 tells by a method that Flink 2 has no more; which one exists shows when it is called. */
    @SuppressWarnings("deprecation")
    static int count(RuntimeContext context) {
        try {
            return context.getTaskInfo().getNumberOfParallelSubtasks();
        } catch (NoSuchMethodError e) {
            return context.getNumberOfParallelSubtasks();
        }
    }
}
