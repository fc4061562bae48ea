package flinkscaler.oracle;

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.ObjectMapper;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.node.ObjectNode;

/**
 * Runs the Java autoscaler on made-up jobs. Each line of standard input is one request, each line of standard output
 * its answer, both JSON:
 *
 * <pre>
 * {"op":"open","session":"a","options":{"job.autoscaler.metrics.window":"5 min"}}   {"ok":true}
 * {"op":"cycle","session":"a","look":{...}}                                         what one cycle came to
 * {"op":"close","session":"a"}                                                      {"ok":true}
 * {"op":"batch","requests":[...]}                                                   {"answers":[...]}
 * </pre>
 *
 * A request that fails is answered with {"error":"..."}; the program goes on. NaN and the infinities are strings.
 */
public final class Main {
    private final ObjectMapper json = new ObjectMapper();
    private final FakeFlink flink = FakeFlink.create();
    private final Map<String, Session> sessions = new HashMap<>();

    private Main() throws Exception {}

    public static void main(String[] args) throws Exception {
        new Main().serve();
        System.exit(0); // Flink's client keeps threads
    }

    private void serve() throws IOException {
        var in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8), 1 << 20);
        var out = new BufferedWriter(new OutputStreamWriter(System.out, StandardCharsets.UTF_8), 1 << 20);
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            out.write(json.writeValueAsString(answer(json.readTree(line))));
            out.newLine();
            if (!in.ready()) {
                out.flush();
            }
        }
        out.flush();
    }

    private JsonNode answer(JsonNode request) {
        try {
            return handle(request);
        } catch (Exception e) {
            return json.createObjectNode().put("error", e.toString());
        }
    }

    private JsonNode handle(JsonNode request) throws Exception {
        var id = request.path("session").asText();
        switch (request.path("op").asText()) {
            case "open":
                sessions.put(id, new Session(id, request.path("options"), flink));
                return ok();
            case "close":
                if (sessions.remove(id) == null) {
                    throw new IllegalArgumentException("no session " + id);
                }
                return ok();
            case "cycle":
                var session = sessions.get(id);
                if (session == null) {
                    throw new IllegalArgumentException("no session " + id);
                }
                return session.cycle(request.path("look"), json.createObjectNode());
            case "batch":
                return batch(request);
            default:
                throw new IllegalArgumentException("unknown op " + request.path("op"));
        }
    }

    private ObjectNode ok() {
        return json.createObjectNode().put("ok", true);
    }

    private JsonNode batch(JsonNode request) {
        var out = json.createObjectNode();
        var answers = out.putArray("answers");
        request.path("requests").forEach(r -> answers.add(answer(r)));
        return out;
    }
}
