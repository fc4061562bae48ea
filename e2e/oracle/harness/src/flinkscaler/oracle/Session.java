package flinkscaler.oracle;

import java.lang.reflect.Field;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.apache.flink.api.common.JobID;
import org.apache.flink.api.common.JobStatus;
import org.apache.flink.autoscaler.JobAutoScalerContext;
import org.apache.flink.autoscaler.JobAutoScalerImpl;
import org.apache.flink.autoscaler.RestApiMetricsCollector;
import org.apache.flink.autoscaler.ScalingExecutor;
import org.apache.flink.autoscaler.ScalingMetricCollector;
import org.apache.flink.autoscaler.ScalingMetricEvaluator;
import org.apache.flink.autoscaler.ScalingSummary;
import org.apache.flink.autoscaler.event.AutoScalerEventHandler;
import org.apache.flink.autoscaler.metrics.CollectedMetricHistory;
import org.apache.flink.autoscaler.metrics.EvaluatedMetrics;
import org.apache.flink.autoscaler.metrics.EvaluatedScalingMetric;
import org.apache.flink.autoscaler.metrics.ScalingMetric;
import org.apache.flink.autoscaler.realizer.ScalingRealizer;
import org.apache.flink.autoscaler.state.AutoScalerStateStore;
import org.apache.flink.autoscaler.state.InMemoryAutoScalerStateStore;
import org.apache.flink.autoscaler.tuning.ConfigChanges;
import org.apache.flink.client.program.rest.RestClusterClient;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.metrics.groups.UnregisteredMetricsGroup;
import org.apache.flink.runtime.jobgraph.JobVertexID;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.node.ObjectNode;

/** One job under the autoscaler, with its memory, in a time that the caller tells. */
final class Session {
    private final String key;
    private final Map<String, String> options = new HashMap<>();
    private final FakeFlink flink;
    private final SetClock clock = new SetClock();
    private final Collector collector = new Collector();
    private final Store store = new Store();
    private final Events events = new Events();
    private final JobAutoScalerImpl<String, Context> autoscaler;
    private final Map<String, EvaluatedMetrics> evaluated;
    private final JobID job = new JobID();

    /** The answer in the making. */
    private ObjectNode answer;

    Session(String key, JsonNode options, FakeFlink flink) throws Exception {
        this.key = key;
        this.flink = flink;
        options.fields().forEachRemaining(e -> this.options.put(e.getKey(), e.getValue().asText()));
        this.options.putIfAbsent("job.autoscaler.enabled", "true");
        var executor = new ScalingExecutor<>(events, store);
        autoscaler =
                new JobAutoScalerImpl<>(collector, new ScalingMetricEvaluator(), executor, events, new Realizer(), store);
        // The classes take a clock only from tests in their own packages.
        field(JobAutoScalerImpl.class, "clock").set(autoscaler, clock);
        field(ScalingMetricCollector.class, "clock").set(collector, clock);
        var scaler = field(ScalingExecutor.class, "jobVertexScaler").get(executor);
        field(scaler.getClass(), "clock").set(scaler, clock);
        evaluated = lastEvaluated();
    }

    private static Field field(Class<?> of, String name) throws NoSuchFieldException {
        var f = of.getDeclaredField(name);
        f.setAccessible(true);
        return f;
    }

    @SuppressWarnings("unchecked")
    private Map<String, EvaluatedMetrics> lastEvaluated() throws Exception {
        return (Map<String, EvaluatedMetrics>) field(JobAutoScalerImpl.class, "lastEvaluatedMetrics").get(autoscaler);
    }

    /** Lets the autoscaler have one look at the job, and tells all that came of it. */
    JsonNode cycle(JsonNode look, ObjectNode out) throws Exception {
        answer = out;
        answer.put("decided", false).put("full", false).put("samples", 0);
        answer.putArray("events");
        clock.now = Instant.ofEpochMilli(look.path("now").asLong());
        look.path("options").fields().forEachRemaining(e -> options.put(e.getKey(), e.getValue().asText()));
        flink.show(look);
        evaluated.remove(key);
        autoscaler.scale(new Context(JobStatus.valueOf(look.path("state").asText("RUNNING"))));
        var metrics = evaluated.get(key);
        if (metrics != null) {
            var vertices = answer.putObject("vertices");
            metrics.getVertexMetrics().forEach((id, m) -> write(vertices.putObject(id.toHexString()), m));
            write(answer.putObject("global"), metrics.getGlobalMetrics());
        }
        return answer;
    }

    private static void write(ObjectNode out, Map<ScalingMetric, EvaluatedScalingMetric> metrics) {
        metrics.forEach(
                (name, m) -> {
                    if (m == null) {
                        return; // no recommendation while the window fills
                    }
                    Numbers.write(out, name + ".current", m.getCurrent());
                    Numbers.write(out, name + ".average", m.getAverage());
                });
    }

    /** The clock of all parts. */
    private static final class SetClock extends Clock {
        private Instant now = Instant.EPOCH;

        @Override
        public ZoneId getZone() {
            return ZoneOffset.UTC;
        }

        @Override
        public Clock withZone(ZoneId zone) {
            return this;
        }

        @Override
        public Instant instant() {
            return now;
        }
    }

    /** What a cycle knows. Its configuration is a new one each time, as the autoscaler writes into it. */
    final class Context extends JobAutoScalerContext<String> {
        Context(JobStatus status) {
            super(key, job, status, Configuration.fromMap(options), new UnregisteredMetricsGroup(), () -> flink);
        }

        @Override
        public Optional<Double> getTaskManagerCpu() {
            // As on Kubernetes; elsewhere the autoscaler does not know.
            return Optional.ofNullable(options.get("kubernetes.taskmanager.cpu")).map(Double::valueOf);
        }

        @Override
        public RestClusterClient<String> getRestClusterClient() {
            return flink;
        }
    }

    /** The collector, which also tells whether its window is full. */
    private final class Collector extends RestApiMetricsCollector<String, Context> {
        @Override
        public CollectedMetricHistory updateMetrics(Context c, AutoScalerStateStore<String, Context> s) throws Exception {
            var history = super.updateMetrics(c, s);
            answer.put("full", history.isFullyCollected()).put("samples", history.getMetricHistory().size());
            return history;
        }
    }

    /** The store, which also tells of a decision: overrides are stored for nothing else. */
    private final class Store extends InMemoryAutoScalerStateStore<String, Context> {
        @Override
        public void storeParallelismOverrides(Context c, Map<String, String> overrides) {
            super.storeParallelismOverrides(c, overrides);
            answer.put("decided", true);
            var out = answer.putObject("overrides");
            overrides.forEach((id, p) -> out.put(id, Integer.parseInt(p)));
        }
    }

    /** Carries nothing out: the caller does, when it likes. */
    private static final class Realizer implements ScalingRealizer<String, Context> {
        @Override
        public void realizeParallelismOverrides(Context c, Map<String, String> overrides) {}

        @Override
        public void realizeConfigOverrides(Context c, ConfigChanges changes) {}
    }

    /** Takes down events as they are raised, before anything that repeats is dropped. */
    private final class Events implements AutoScalerEventHandler<String, Context> {
        @Override
        public void handleEvent(Context c, Type type, String reason, String message, String messageKey, Duration interval) {
            answer.withArray("events").addObject().put("type", type.toString()).put("reason", reason).put("key", messageKey).put("message", message);
        }

        @Override
        public void handleScalingEvent(Context c, Map<JobVertexID, ScalingSummary> summaries, String message, Duration interval) {
            var out = answer.putArray("summary");
            summaries.forEach(
                    (id, s) ->
                            out.addObject().put("id", id.toHexString()).put("from", s.getCurrentParallelism()).put("to", s.getNewParallelism()));
            handleEvent(c, Type.Normal, SCALING_REPORT_REASON, message, SCALING_REPORT_KEY, interval);
        }
    }
}
