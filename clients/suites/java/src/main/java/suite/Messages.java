package suite;

import static suite.Suite.equal;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.flink.avro.shaded.com.fasterxml.jackson.databind.JsonNode;
import org.apache.flink.avro.shaded.com.fasterxml.jackson.databind.ObjectMapper;
import org.apache.flink.avro.shaded.com.fasterxml.jackson.databind.node.ObjectNode;
import org.apache.flink.avro.shaded.org.apache.avro.Schema;
import org.apache.flink.avro.shaded.org.apache.avro.generic.GenericData;
import org.apache.flink.avro.shaded.org.apache.avro.generic.GenericRecord;
import org.apache.flink.formats.avro.registry.confluent.ConfluentRegistryAvroDeserializationSchema;
import org.apache.flink.formats.avro.registry.confluent.ConfluentRegistryAvroSerializationSchema;

/** Flink's Avro serializers over the bundled client; they have no other format and no header form. */
final class Messages {
  private static final String NAME = "example.exchange.Order";
  private static final ObjectMapper JSON = new ObjectMapper();

  private final String url;
  private final Path folder;
  private final Schema schema;
  private final JsonNode want;

  Messages(String url, Path folder, Path shared) throws IOException {
    this.url = url;
    this.folder = folder;
    this.schema = new Schema.Parser().parse(Files.readString(shared.resolve("order.avsc")));
    this.want = JSON.readTree(Files.readString(shared.resolve("values.json"))).get("avro").get(NAME);
  }

  private byte[] encode(String subject) throws Exception {
    GenericRecord order = new GenericData.Record(schema);
    order.put("id", want.get("id").asLong());
    order.put("buyer", want.get("buyer").asText());
    order.put("tags", Stream.of(JSON.treeToValue(want.get("tags"), String[].class)).collect(Collectors.toList()));
    order.put("note", want.get("note").asText());
    var serializer = ConfluentRegistryAvroSerializationSchema.forGeneric(subject, schema, url);
    serializer.open(null);
    return serializer.serialize(order);
  }

  private JsonNode decode(byte[] value) throws Exception {
    var deserializer = ConfluentRegistryAvroDeserializationSchema.forGeneric(schema, url);
    deserializer.open(null);
    return JSON.readTree(deserializer.deserialize(value).toString());
  }

  void write(Suite s) {
    s.run("Avro round trip", () -> equal("value", decode(encode("java-avro-value")), want));
    s.run("write Avro", () -> {
      byte[] value = encode("exchange-avro-value");
      equal("magic byte", value[0], (byte) 0);
      ObjectNode m = JSON.createObjectNode();
      m.put("client", "flink").put("format", "avro").put("message", NAME).put("framing", "prefix").put("value", Base64.getEncoder().encodeToString(value));
      Files.writeString(folder.resolve("flink.avro." + NAME + ".prefix.json"), m.toString());
    });
  }

  void read(Suite s) throws IOException {
    List<Path> files;
    try (Stream<Path> all = Files.list(folder)) {
      files = all.filter(f -> f.getFileName().toString().matches(".*\\.avro\\..*\\.prefix\\.json")).sorted().collect(Collectors.toList());
    }
    s.run("there is something to read", () -> equal("messages", files.isEmpty(), false));
    for (Path file : files) {
      s.run("read " + file.getFileName(), () -> equal("value", decode(JSON.readTree(Files.readString(file)).get("value").binaryValue()), want));
    }
  }
}
