package flinkscaler.testjob;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * Arrivals as a pure function of time, read from a file that only grows.
 *
 * <p>Each line is "epochMillis recordsPerSecond": from that moment on records arrive at that rate, until the next line.
 * The number of records that have arrived by now therefore survives restarts and rescales, like a topic's end offset,
 * and a backlog is a real one. Lines must never be removed or changed: the arrivals would fall below what was read
 * already and the source would stay silent until they catch up.
 *
 * <p>Not thread-safe.
 */
final class RateLog {
    /** How often the file is looked at: soon enough for a test, seldom enough to cost nothing. */
    private static final long LOOK_EVERY_MILLIS = 250;

    private final String path;
    private final List<Step> steps = new ArrayList<>();
    private long readBytes;
    private long lookedAtMillis;

    RateLog(String path) {
        this.path = path;
    }

    /** From fromMillis on, with so many arrivals before it. */
    private static final class Step {
        final long fromMillis;
        final double perSecond;
        final double before;

        Step(long fromMillis, double perSecond, double before) {
            this.fromMillis = fromMillis;
            this.perSecond = perSecond;
            this.before = before;
        }

        double arrivedBy(long millis) {
            return before + perSecond * (millis - fromMillis) / 1000.0;
        }
    }

    /** Records that have arrived by now in all splits together. */
    long arrived(long nowMillis) {
        if (nowMillis - lookedAtMillis >= LOOK_EVERY_MILLIS) {
            lookedAtMillis = nowMillis;
            readAppended();
        }
        for (int i = steps.size() - 1; i >= 0; i--) {
            if (steps.get(i).fromMillis <= nowMillis) {
                return (long) steps.get(i).arrivedBy(nowMillis);
            }
        }
        return 0;
    }

    /** A file that is not there yet, or cannot be read at the moment, changes nothing: it is looked at again soon. */
    private void readAppended() {
        try (RandomAccessFile file = new RandomAccessFile(path, "r")) {
            byte[] appended = new byte[(int) Math.max(0, file.length() - readBytes)];
            file.seek(readBytes);
            file.readFully(appended);
            takeLines(appended);
        } catch (IOException e) {
            return;
        }
    }

    /** Takes whole lines only; the rest is read again when its line is complete. */
    private void takeLines(byte[] appended) {
        int start = 0;
        for (int i = 0; i < appended.length; i++) {
            if (appended[i] == '\n') {
                takeLine(new String(appended, start, i - start, StandardCharsets.UTF_8).trim());
                start = i + 1;
            }
        }
        readBytes += start;
    }

    private void takeLine(String line) {
        if (line.isEmpty() || line.startsWith("#")) {
            return;
        }
        String[] fields = line.split("\\s+");
        long fromMillis = Long.parseLong(fields[0]);
        double before = 0;
        if (!steps.isEmpty()) {
            Step last = steps.get(steps.size() - 1);
            fromMillis = Math.max(fromMillis, last.fromMillis);
            before = last.arrivedBy(fromMillis);
        }
        steps.add(new Step(fromMillis, Double.parseDouble(fields[1]), before));
    }
}
