package flinkscaler.oracle;

import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.node.ObjectNode;

/** Numbers in JSON, which has no NaN and no infinity: those are strings. */
final class Numbers {
    private Numbers() {}

    static double read(JsonNode node) {
        return node.isTextual() ? Double.parseDouble(node.asText()) : node.asDouble();
    }

    static void write(ObjectNode to, String name, double value) {
        if (Double.isFinite(value)) {
            to.put(name, value);
        } else {
            to.put(name, Double.toString(value));
        }
    }
}
