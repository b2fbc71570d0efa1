package suite;

import static suite.Suite.contains;
import static suite.Suite.equal;

import org.springframework.cloud.stream.schema.registry.SchemaReference;
import org.springframework.cloud.stream.schema.registry.client.ConfluentSchemaRegistryClient;

/** Spring Cloud Stream's client for a Confluent registry; it registers and fetches Avro. */
final class Spring {
  private static final String V1 =
      "{\"type\":\"record\",\"name\":\"User\",\"namespace\":\"suite.spring\",\"fields\":[{\"name\":\"id\",\"type\":\"long\"}]}";
  private static final String BAD = V1.replace("long", "string");

  static void cases(Suite s, String url) {
    ConfluentSchemaRegistryClient c = new ConfluentSchemaRegistryClient();
    c.setEndpoint(url);
    s.run("register", () -> {
      var first = c.register("spring-user", "avro", V1);
      var again = c.register("spring-user", "avro", V1);
      equal("id", again.getId(), first.getId());
      equal("reference", again.getSchemaReference(), new SchemaReference("spring-user", 1, "avro"));
      equal("by id", c.fetch(first.getId()), V1);
    });
    s.run("fetch by version", () -> equal("text", c.fetch(new SchemaReference("spring-user", 1, "avro")), V1));
    s.run("breaking registration is refused", () -> contains("error", thrown(() -> c.register("spring-user", "avro", BAD)), "409"));
    s.run("unknown things are not found", () -> {
      contains("id", thrown(() -> c.fetch(99999)), "Could not find schema");
      contains("version", thrown(() -> c.fetch(new SchemaReference("spring-nothing", 1, "avro"))), "Could not find schema");
    });
  }

  private static String thrown(Suite.Case call) {
    try {
      call.run();
    } catch (Exception e) {
      return String.valueOf(e) + e.getCause();
    }
    throw new AssertionError("got an answer, want an error");
  }

  private Spring() {}
}
