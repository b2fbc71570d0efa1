package suite;

import java.nio.file.Path;

/**
 * Proves that Java clients work against a registry.
 *
 * <pre>
 * suite.Main confluent URL EXCHANGE write|read
 * suite.Main spring URL EXCHANGE write
 * </pre>
 */
public final class Main {
  public static void main(String[] args) throws Exception {
    if (args.length != 4 || !args[3].matches("write|read")) {
      System.err.println("usage: suite.Main confluent|spring URL EXCHANGE write|read");
      System.exit(64);
    }
    String shared = System.getenv().getOrDefault("CARTORIO_SUITES", "..");
    boolean reads = args[3].equals("read");
    Suite s;
    if (args[0].equals("spring")) {
      s = new Suite("spring-cloud-stream (Java)");
      Spring.cases(s, args[1]);
    } else {
      s = new Suite("Confluent's Java client, in Flink" + (reads ? ", reads" : ""));
      Messages messages = new Messages(args[1], Path.of(args[2]), Path.of(shared, "exchange"));
      if (reads) {
        messages.read(s);
      } else {
        new Confluent(args[1]).cases(s);
        messages.write(s);
      }
    }
    System.exit(s.end());
  }

  private Main() {}
}
