package suite;

import java.util.Objects;

/**
 * Counts the cases of one client: a case that fails is named with its reason,
 * and the last line of the program has both counts.
 */
final class Suite {
  /** A case; what it throws is its failure. */
  interface Case {
    void run() throws Exception;
  }

  private final String name;
  private int passed;
  private int failed;

  Suite(String name) {
    this.name = name;
  }

  void run(String what, Case body) {
    try {
      body.run();
      passed++;
    } catch (Exception | LinkageError | AssertionError e) {
      failed++;
      System.out.printf("FAIL %s: %s: %s%n", name, what, e);
    }
  }

  /** Prints the closing line and answers the exit code. */
  int end() {
    System.out.printf("%s: %d passed, %d failed%n", name, passed, failed);
    return failed > 0 || passed == 0 ? 1 : 0;
  }

  static void equal(String what, Object got, Object want) {
    if (!Objects.equals(got, want)) {
      throw new AssertionError(what + ": got " + got + ", want " + want);
    }
  }

  static void contains(String what, String got, String part) {
    if (got == null || !got.contains(part)) {
      throw new AssertionError(what + ": " + part + " is not in " + got);
    }
  }
}
