package flinkscaler.testjob;

/** The job's command line. An unknown option or a missing value fails the submission and says so. */
final class JobArguments {
    String rateFile;
    String name = "testjob";
    int splits = 8;
    int maxParallelism = 24;
    int keys = 2400;
    long costMicros = 1000;
    /** The slow vertex fails when it runs at so many subtasks or more, as one does that is short of memory; 0: never. */
    int failAt = 0;
    /** The program never comes to the job when the slow vertex is to run at so many subtasks or more; 0: it does. */
    int hangAt = 0;
    /** What the slow vertex runs at; 0: as the rest of the job. */
    int slowParallelism = 0;
    /** The slow vertex fails for good when a record comes twice, or one before it never came. */
    boolean exact = false;

    private JobArguments() {}

    static JobArguments parse(String[] args) {
        JobArguments parsed = new JobArguments();
        for (int i = 0; i < args.length; i += 2) {
            if (i + 1 == args.length) {
                throw new IllegalArgumentException(args[i] + ": has no value");
            }
            parsed.set(args[i], args[i + 1]);
        }
        if (parsed.rateFile == null) {
            throw new IllegalArgumentException("--rate-file: is missing");
        }
        if (parsed.exact && parsed.keys % parsed.splits != 0) {
            throw new IllegalArgumentException(
                    "--exact: needs --keys to be a multiple of --splits, so that the records of a key come in order");
        }
        return parsed;
    }

    private void set(String option, String value) {
        switch (option) {
            case "--rate-file":
                rateFile = value;
                break;
            case "--name":
                name = value;
                break;
            case "--splits":
                splits = Math.toIntExact(positive(option, value));
                break;
            case "--max-parallelism":
                maxParallelism = Math.toIntExact(positive(option, value));
                break;
            case "--keys":
                keys = Math.toIntExact(positive(option, value));
                break;
            case "--cost-us":
                costMicros = atLeast(0, option, value);
                break;
            case "--fail-at":
                failAt = Math.toIntExact(atLeast(0, option, value));
                break;
            case "--hang-at":
                hangAt = Math.toIntExact(atLeast(0, option, value));
                break;
            case "--slow-parallelism":
                slowParallelism = Math.toIntExact(positive(option, value));
                break;
            case "--exact":
                exact = Boolean.parseBoolean(value);
                break;
            default:
                throw new IllegalArgumentException(
                        option
                                + ": unknown option; known are --rate-file --splits --max-parallelism --cost-us --name --keys --fail-at --hang-at --slow-parallelism --exact");
        }
    }

    private static long positive(String option, String value) {
        return atLeast(1, option, value);
    }

    private static long atLeast(long least, String option, String value) {
        long number = Long.parseLong(value);
        if (number < least) {
            throw new IllegalArgumentException(option + ": must be at least " + least + ", got " + value);
        }
        return number;
    }
}
