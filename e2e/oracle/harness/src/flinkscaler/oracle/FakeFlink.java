package flinkscaler.oracle;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.apache.flink.api.common.JobID;
import org.apache.flink.api.common.JobStatus;
import org.apache.flink.client.program.rest.RestClusterClient;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.RestOptions;
import org.apache.flink.runtime.execution.ExecutionState;
import org.apache.flink.runtime.highavailability.ClientHighAvailabilityServices;
import org.apache.flink.runtime.instance.SlotSharingGroupId;
import org.apache.flink.runtime.jobgraph.JobVertexID;
import org.apache.flink.runtime.leaderretrieval.LeaderRetrievalListener;
import org.apache.flink.runtime.leaderretrieval.LeaderRetrievalService;
import org.apache.flink.runtime.rest.messages.JobPlanInfo;
import org.apache.flink.runtime.rest.messages.JobVertexIdPathParameter;
import org.apache.flink.runtime.rest.messages.MessageHeaders;
import org.apache.flink.runtime.rest.messages.MessageParameters;
import org.apache.flink.runtime.rest.messages.RequestBody;
import org.apache.flink.runtime.rest.messages.ResponseBody;
import org.apache.flink.runtime.rest.messages.job.JobDetailsInfo;
import org.apache.flink.runtime.rest.messages.job.metrics.AggregatedMetric;
import org.apache.flink.runtime.rest.messages.job.metrics.AggregatedMetricsResponseBody;
import org.apache.flink.runtime.rest.messages.job.metrics.AggregatedSubtaskMetricsHeaders;
import org.apache.flink.runtime.rest.messages.job.metrics.AggregatedTaskManagerMetricsHeaders;
import org.apache.flink.runtime.rest.messages.job.metrics.IOMetricsInfo;
import org.apache.flink.runtime.rest.messages.job.metrics.JobManagerMetricsHeaders;
import org.apache.flink.runtime.rest.messages.job.metrics.Metric;
import org.apache.flink.runtime.rest.messages.job.metrics.MetricCollectionResponseBody;
import org.apache.flink.runtime.rest.messages.job.metrics.MetricsFilterParameter;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.ObjectMapper;

/**
 * Flink's REST client without a Flink: it answers from the look that it was shown last. So the autoscaler's own
 * collector runs in full, and nothing goes over a network.
 */
final class FakeFlink extends RestClusterClient<String> {
    private static final ObjectMapper JSON = new ObjectMapper();

    private JsonNode look;

    private FakeFlink(Configuration configuration) throws Exception {
        super(configuration, "oracle", (c, onFatal) -> new NoLeader());
    }

    static FakeFlink create() throws Exception {
        var configuration = new Configuration();
        configuration.set(RestOptions.ADDRESS, "localhost");
        return new FakeFlink(configuration);
    }

    void show(JsonNode shown) {
        look = shown;
    }

    @Override
    public void close() {
        // The autoscaler closes a client after each call; this one lives on.
    }

    @Override
    public CompletableFuture<JobDetailsInfo> getJobDetails(JobID job) {
        var vertices = new ArrayList<JobDetailsInfo.JobVertexDetailsInfo>();
        look.path("vertices").forEach(v -> vertices.add(details(v)));
        var timestamps = new HashMap<JobStatus, Long>();
        for (var status : JobStatus.values()) {
            timestamps.put(status, 0L);
        }
        timestamps.put(JobStatus.RUNNING, look.path("running").asLong());
        long now = look.path("now").asLong();
        return CompletableFuture.completedFuture(
                new JobDetailsInfo(
                        job, "job", false, JobStatus.RUNNING, 0, -1, now, -1, now, timestamps, vertices,
                        Map.of(), new JobPlanInfo.RawJson(plan())));
    }

    private static JobDetailsInfo.JobVertexDetailsInfo details(JsonNode v) {
        var group = v.path("group").asText("");
        var state = v.path("finished").asBoolean() ? ExecutionState.FINISHED : ExecutionState.RUNNING;
        var io =
                new IOMetricsInfo(
                        0, true, 0, true, v.path("read").asLong(), v.path("complete").asBoolean(true),
                        v.path("written").asLong(), v.path("complete").asBoolean(true), 0, 0, Numbers.read(v.path("busy")));
        return new JobDetailsInfo.JobVertexDetailsInfo(
                JobVertexID.fromHexString(v.path("id").asText()),
                group.isEmpty() ? null : new SlotSharingGroupId(Long.parseLong(group), 0),
                v.path("name").asText(), v.path("max").asInt(), v.path("p").asInt(), state, 0, -1, 0, Map.of(), io);
    }

    private String plan() {
        var plan = JSON.createObjectNode();
        var nodes = plan.putArray("nodes");
        for (var v : look.path("vertices")) {
            var node = nodes.addObject().put("id", v.path("id").asText()).put("parallelism", v.path("p").asInt());
            if (v.path("inputs").isEmpty()) {
                continue; // as in Flink: a source has no such field
            }
            var inputs = node.putArray("inputs");
            for (var i : v.path("inputs")) {
                inputs.addObject().put("id", i.path("id").asText()).put("ship_strategy", i.path("ship").asText());
            }
        }
        return plan.toString();
    }

    @Override
    @SuppressWarnings("unchecked")
    public <M extends MessageHeaders<R, P, U>, U extends MessageParameters, R extends RequestBody, P extends ResponseBody>
            CompletableFuture<P> sendRequest(M headers, U parameters, R body) {
        return CompletableFuture.completedFuture((P) respond(headers, parameters));
    }

    private ResponseBody respond(MessageHeaders<?, ?, ?> headers, MessageParameters parameters) {
        if (headers instanceof AggregatedSubtaskMetricsHeaders) {
            return aggregated(metricsOf(vertexIn(parameters)), wanted(parameters));
        }
        if (headers instanceof AggregatedTaskManagerMetricsHeaders) {
            return aggregated(look.path("tm"), wanted(parameters));
        }
        if (headers instanceof JobManagerMetricsHeaders) {
            var metrics = new ArrayList<Metric>();
            for (var name : wanted(parameters)) {
                if (look.path("jm").has(name)) {
                    metrics.add(new Metric(name, look.path("jm").path(name).asText()));
                }
            }
            return new MetricCollectionResponseBody(metrics);
        }
        throw new IllegalArgumentException("no answer to " + headers.getClass().getSimpleName());
    }

    private static JobVertexID vertexIn(MessageParameters parameters) {
        for (var p : parameters.getPathParameters()) {
            if (p instanceof JobVertexIdPathParameter) {
                return ((JobVertexIdPathParameter) p).getValue();
            }
        }
        throw new IllegalArgumentException("a request for no vertex");
    }

    /** Null when the request names no metrics: then the names that exist are asked for. */
    private static List<String> wanted(MessageParameters parameters) {
        for (var p : parameters.getQueryParameters()) {
            if (p instanceof MetricsFilterParameter && p.isResolved()) {
                return ((MetricsFilterParameter) p).getValue();
            }
        }
        return null;
    }

    private JsonNode metricsOf(JobVertexID id) {
        for (var v : look.path("vertices")) {
            if (v.path("id").asText().equals(id.toHexString())) {
                return v.path("metrics");
            }
        }
        throw new IllegalArgumentException("no vertex " + id);
    }

    /** As Flink does: all that exist without a filter, and nothing at all when one of the filter does not exist. */
    private static AggregatedMetricsResponseBody aggregated(JsonNode all, List<String> wanted) {
        Collection<AggregatedMetric> out = new ArrayList<>();
        if (wanted == null) {
            all.forEach(m -> out.add(new AggregatedMetric(m.path("id").asText())));
            return new AggregatedMetricsResponseBody(out);
        }
        for (var m : all) {
            if (wanted.contains(m.path("id").asText()) && m.has("sum")) {
                out.add(metric(m));
            }
        }
        return new AggregatedMetricsResponseBody(out.size() < wanted.size() ? List.of() : out);
    }

    private static AggregatedMetric metric(JsonNode m) {
        return new AggregatedMetric(
                m.path("id").asText(), Numbers.read(m.path("min")), Numbers.read(m.path("max")), Numbers.read(m.path("avg")),
                Numbers.read(m.path("sum")), 0.);
    }

    /** There is no leader to look for. */
    private static final class NoLeader implements ClientHighAvailabilityServices {
        @Override
        public LeaderRetrievalService getClusterRestEndpointLeaderRetriever() {
            return new LeaderRetrievalService() {
                @Override
                public void start(LeaderRetrievalListener listener) {}

                @Override
                public void stop() {}
            };
        }

        @Override
        public void close() {}
    }
}
