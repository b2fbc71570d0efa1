package suite;

import static suite.Suite.contains;
import static suite.Suite.equal;

import java.util.List;
import java.util.Map;
import org.apache.flink.avro.registry.confluent.shaded.io.confluent.kafka.schemaregistry.ParsedSchema;
import org.apache.flink.avro.registry.confluent.shaded.io.confluent.kafka.schemaregistry.avro.AvroSchema;
import org.apache.flink.avro.registry.confluent.shaded.io.confluent.kafka.schemaregistry.client.CachedSchemaRegistryClient;
import org.apache.flink.avro.registry.confluent.shaded.io.confluent.kafka.schemaregistry.client.SchemaRegistryClient;
import org.apache.flink.avro.registry.confluent.shaded.io.confluent.kafka.schemaregistry.client.rest.RestService;
import org.apache.flink.avro.registry.confluent.shaded.io.confluent.kafka.schemaregistry.client.rest.entities.Config;
import org.apache.flink.avro.registry.confluent.shaded.io.confluent.kafka.schemaregistry.client.rest.entities.SchemaReference;
import org.apache.flink.avro.registry.confluent.shaded.io.confluent.kafka.schemaregistry.client.rest.entities.SubjectVersion;
import org.apache.flink.avro.registry.confluent.shaded.io.confluent.kafka.schemaregistry.client.rest.entities.requests.ConfigUpdateRequest;
import org.apache.flink.avro.registry.confluent.shaded.io.confluent.kafka.schemaregistry.client.rest.entities.requests.RegisterSchemaRequest;
import org.apache.flink.avro.registry.confluent.shaded.io.confluent.kafka.schemaregistry.client.rest.exceptions.RestClientException;

/** Confluent's Java client, as Apache Flink bundles it. */
final class Confluent {
  private static final String V1 =
      "{\"type\":\"record\",\"name\":\"User\",\"namespace\":\"suite.java\",\"fields\":[{\"name\":\"id\",\"type\":\"long\"}]}";
  private static final String HEAD = V1.substring(0, V1.length() - 2);
  private static final String V2 = HEAD + ",{\"name\":\"mail\",\"type\":\"string\",\"default\":\"\"}]}";
  private static final String BAD = HEAD + ",{\"name\":\"mail\",\"type\":\"string\"}]}";
  private static final String WRAPPER =
      "{\"type\":\"record\",\"name\":\"Wrapper\",\"namespace\":\"suite.java\",\"fields\":[{\"name\":\"user\",\"type\":\"User\"}]}";
  private static final String JSON = "{\"type\":\"object\",\"properties\":{\"id\":{\"type\":\"integer\"}},\"additionalProperties\":false}";
  private static final String PROTO = "syntax = \"proto3\";\npackage suite.java;\n\nmessage User {\n  int64 id = 1;\n}\n";
  private static final String SUBJECT = "java-user-value";

  private final String url;

  Confluent(String url) {
    this.url = url;
  }

  /** What a program writes; a new one has empty caches. */
  private SchemaRegistryClient client() {
    return new CachedSchemaRegistryClient(
        url, 100, Map.of("basic.auth.credentials.source", "USER_INFO", "basic.auth.user.info", "user:secret"));
  }

  private RestService rest() {
    return new RestService(url);
  }

  private static void refused(int code, Suite.Case call) throws Exception {
    try {
      call.run();
    } catch (RestClientException e) {
      equal("error code", e.getErrorCode(), code);
      return;
    }
    throw new AssertionError("got an answer, want an error with code " + code);
  }

  private static ParsedSchema avro(String text) {
    return new AvroSchema(text);
  }

  void cases(Suite s) throws Exception {
    SchemaRegistryClient c = client();
    int id = c.register(SUBJECT, avro(V1));
    s.run("register", () -> {
      equal("again", client().register(SUBJECT, avro(V1)), id);
      equal("elsewhere", client().register("java-user-copy", avro(V1), true), id);
      equal("version", client().getVersion(SUBJECT, avro(V1)), 1);
      equal("id by text", client().getId(SUBJECT, avro(V1)), id);
    });
    s.run("look up by id", () -> {
      equal("text", client().getSchemaById(id).canonicalString(), V1);
      equal("within a subject", client().getSchemaBySubjectAndId(SUBJECT, id).canonicalString(), V1);
      equal("raw text", rest().getOnlySchemaById(id), V1);
      equal("subjects", List.copyOf(c.getAllSubjectsById(id)), List.of("java-user-copy", SUBJECT));
      equal("versions", List.copyOf(c.getAllVersionsById(id)), List.of(new SubjectVersion("java-user-copy", 1), new SubjectVersion(SUBJECT, 1)));
      equal("highest id", rest().getId(id, null, true).getMaxId() >= id, true);
    });
    s.run("look up by version and latest", () -> {
      equal("version", client().getSchemaMetadata(SUBJECT, 1).getSchema(), V1);
      equal("latest", client().getLatestSchemaMetadata(SUBJECT).getId(), id);
      equal("raw text", rest().getVersionSchemaOnly(SUBJECT, 1), V1);
      equal("raw latest", rest().getLatestVersionSchemaOnly(SUBJECT), V1);
    });
    s.run("unknown things have their codes", () -> {
      refused(40403, () -> c.getSchemaById(99999));
      refused(40401, () -> c.getLatestSchemaMetadata("java-nothing"));
      refused(40402, () -> c.getSchemaMetadata(SUBJECT, 77));
      refused(40403, () -> c.getId(SUBJECT, avro("\"bytes\"")));
      refused(40401, () -> c.getId("java-nothing", avro(V1)));
      refused(42201, () -> rest().registerSchema("{\"type\":\"record\"}", "java-invalid"));
    });
    s.run("compatibility", () -> {
      equal("compatible", c.testCompatibility(SUBJECT, avro(V2)), true);
      equal("breaking", c.testCompatibility(SUBJECT, avro(BAD)), false);
      equal("no messages", c.testCompatibilityVerbose(SUBJECT, avro(V2)), List.of());
      contains("messages", String.join(" ", c.testCompatibilityVerbose(SUBJECT, avro(BAD))), "errorType:'READER_FIELD_MISSING_DEFAULT_VALUE'");
      equal("one version", rest().testCompatibility(BAD, SUBJECT, "1").isEmpty(), false);
      refused(409, () -> c.register(SUBJECT, avro(BAD)));
    });
    s.run("second version and lists", () -> {
      equal("id", c.register(SUBJECT, avro(V2)) > id, true);
      equal("versions", c.getAllVersions(SUBJECT), List.of(1, 2));
      equal("latest", client().getLatestSchemaMetadata(SUBJECT).getVersion(), 2);
      equal("by prefix", List.copyOf(c.getAllSubjectsByPrefix("java-user")), List.of("java-user-copy", SUBJECT));
      equal("schemas", client().getSchemas(SUBJECT, false, true).size(), 1);
    });
    s.run("register and check JSON Schema and Protobuf", () -> {
      for (String[] f : new String[][] {{"JSON", "java-json", JSON, JSON.replace("integer", "string")}, {"PROTOBUF", "java-proto", PROTO, PROTO.replace("int64", "string")}}) {
        int other = rest().registerSchema(f[2], f[0], List.of(), f[1]).getId();
        // The client reads a bare text as JSON, which Protobuf is not.
        equal("text", rest().getId(other).getSchemaString(), f[2]);
        equal("type", rest().getId(other).getSchemaType(), f[0]);
        equal("breaking", rest().testCompatibility(f[3], f[0], List.of(), f[1], "latest", true).isEmpty(), false);
        refused(409, () -> rest().registerSchema(f[3], f[0], List.of(), f[1]));
      }
    });
    governance(s, c);
    deletion(s, c);
  }

  private void governance(Suite s, SchemaRegistryClient c) {
    s.run("levels", () -> {
      refused(40408, () -> rest().getConfig("java-level"));
      equal("set", c.updateCompatibility("java-level", "FULL"), "FULL");
      equal("got", c.getCompatibility("java-level"), "FULL");
      c.deleteCompatibility("java-level");
      refused(40408, () -> rest().getConfig("java-level"));
      equal("in force", rest().getConfig(Map.of(), "java-level", true).getCompatibilityLevel(), "BACKWARD");
      Config config = new Config("NONE");
      config.setNormalize(true);
      c.updateConfig("java-config", config);
      equal("normalize", rest().getConfig("java-config").isNormalize(), true);
      ConfigUpdateRequest sideways = new ConfigUpdateRequest();
      sideways.setCompatibilityLevel("SIDEWAYS");
      refused(42203, () -> rest().updateConfig(sideways, "java-level"));
    });
    s.run("modes", () -> {
      refused(40409, () -> rest().getMode("java-mode"));
      equal("set", c.setMode("READONLY", "java-mode"), "READONLY");
      refused(42205, () -> c.register("java-mode", avro(V1)));
      equal("got", c.getMode("java-mode"), "READONLY");
      c.deleteMode("java-mode");
      refused(40409, () -> rest().getMode("java-mode"));
      equal("global", c.getMode(), "READWRITE");
    });
    s.run("import with an id and a version", () -> {
      c.setMode("IMPORT", "java-import");
      equal("id", c.register("java-import", avro("{\"type\":\"fixed\",\"name\":\"J\",\"size\":7}"), 5, 14711), 14711);
      c.setMode("READWRITE", "java-import");
      equal("version", client().getLatestSchemaMetadata("java-import").getVersion(), 5);
    });
    s.run("references", () -> {
      c.register("java-ref-user", avro(V1));
      SchemaReference ref = new SchemaReference("suite.java.User", "java-ref-user", 1);
      ParsedSchema wrapper = new AvroSchema(WRAPPER, List.of(ref), Map.of("suite.java.User", V1), null);
      int id = c.register("java-ref-wrapper", wrapper);
      ParsedSchema got = client().getSchemaById(id);
      equal("references", got.references(), List.of(ref));
      equal("text", got.canonicalString(), WRAPPER);
      equal("referenced by", rest().getReferencedBy("java-ref-user", 1), List.of(id));
      refused(42206, () -> c.deleteSubject("java-ref-user"));
      refused(42201, () -> rest().registerSchema(WRAPPER, "AVRO", List.of(new SchemaReference("suite.java.User", "java-nothing", 1)), "java-ref-none"));
    });
    s.run("metadata", () -> {
      RegisterSchemaRequest request = new RegisterSchemaRequest();
      request.setSchema(V1);
      request.setMetadata(
          new org.apache.flink.avro.registry.confluent.shaded.io.confluent.kafka.schemaregistry.client.rest.entities.Metadata(null, Map.of("owner", "payments & co"), null));
      int id = rest().registerSchema(request, "java-meta", false).getId();
      equal("found", c.getLatestWithMetadata("java-meta", Map.of("owner", "payments & co"), false).getId(), id);
      refused(40403, () -> c.getLatestWithMetadata("java-meta", Map.of("owner", "nobody"), false));
    });
    s.run("contexts", () -> {
      c.register(":.java:user-value", avro(V1));
      equal("listed", rest().getAllContexts().contains(".java"), true);
      equal("inside", new RestService(url + "/contexts/.java").getLatestVersion("user-value").getSchema(), V1);
    });
    s.run("server information", () -> {
      equal("types", List.copyOf(rest().getSchemaTypes()).size(), 3);
      equal("cluster", rest().getClusterId().getScope().isEmpty(), false);
      equal("version", rest().getSchemaRegistryServerVersion().getVersion().isEmpty(), false);
    });
  }

  private void deletion(Suite s, SchemaRegistryClient c) {
    s.run("delete a version", () -> {
      refused(40407, () -> c.deleteSchemaVersion(SUBJECT, "2", true));
      equal("soft", c.deleteSchemaVersion(SUBJECT, "2"), 2);
      refused(40402, () -> client().getSchemaMetadata(SUBJECT, 2));
      equal("hidden", client().getSchemaMetadata(SUBJECT, 2, true).getSchema(), V2);
      equal("deleted only", rest().getDeletedOnlyVersions(SUBJECT), List.of(2));
      refused(40406, () -> c.deleteSchemaVersion(SUBJECT, "2"));
      equal("hard", c.deleteSchemaVersion(SUBJECT, "2", true), 2);
      refused(40402, () -> client().getSchemaMetadata(SUBJECT, 2, true));
    });
    s.run("delete a subject", () -> {
      refused(40405, () -> c.deleteSubject(SUBJECT, true));
      equal("soft", c.deleteSubject(SUBJECT), List.of(1));
      refused(40404, () -> c.deleteSubject(SUBJECT));
      refused(40401, () -> c.getAllVersions(SUBJECT));
      equal("deleted only", rest().getDeletedOnlySubjects(SUBJECT), List.of(SUBJECT));
      equal("hard", c.deleteSubject(SUBJECT, true), List.of(1));
      refused(40401, () -> c.deleteSubject(SUBJECT));
    });
  }
}
