package touchstone.hello;

import java.net.InetSocketAddress;
import java.util.Map;

/**
 * What the environment says. Timeouts are in milliseconds; 0 turns one off.
 *
 * @param workers event loops
 */
record Config(
    InetSocketAddress address,
    int workers,
    long requestTimeout,
    long idleTimeout,
    long writeTimeout) {

  static Config fromEnvironment(Map<String, String> environment) {
    int workers = number(environment, "WORKERS", 0);
    return new Config(
        new InetSocketAddress(
            environment.getOrDefault("HOST", "127.0.0.1"), number(environment, "PORT", 8080)),
        workers == 0 ? Runtime.getRuntime().availableProcessors() : workers,
        number(environment, "REQUEST_TIMEOUT_MS", 10_000),
        number(environment, "IDLE_TIMEOUT_MS", 60_000),
        number(environment, "WRITE_TIMEOUT_MS", 10_000));
  }

  private static int number(Map<String, String> environment, String name, int unset) {
    String text = environment.getOrDefault(name, "");
    if (text.isEmpty()) {
      return unset;
    }
    try {
      return Integer.parseUnsignedInt(text);
    } catch (NumberFormatException wrong) {
      throw new IllegalArgumentException(name + "=" + text + ": give a whole number of 0 or more");
    }
  }
}
