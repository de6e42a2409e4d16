package touchstone.hello;

import io.netty.handler.ssl.ApplicationProtocolConfig;
import io.netty.handler.ssl.ApplicationProtocolConfig.Protocol;
import io.netty.handler.ssl.ApplicationProtocolConfig.SelectedListenerFailureBehavior;
import io.netty.handler.ssl.ApplicationProtocolConfig.SelectorFailureBehavior;
import io.netty.handler.ssl.ApplicationProtocolNames;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import java.io.File;
import java.net.InetSocketAddress;
import java.util.Map;
import javax.net.ssl.SSLException;

/**
 * What the environment says. Timeouts are in milliseconds; 0 turns one off.
 *
 * @param workers event loops
 * @param tls what takes handshakes, by the certificate of TLS_CERT and TLS_KEY; null for plain HTTP
 */
record Config(
    InetSocketAddress address,
    int workers,
    long requestTimeout,
    long idleTimeout,
    long writeTimeout,
    SslContext tls) {

  static Config fromEnvironment(Map<String, String> environment) {
    int workers = number(environment, "WORKERS", 0);
    return new Config(
        new InetSocketAddress(
            environment.getOrDefault("HOST", "127.0.0.1"), number(environment, "PORT", 8080)),
        workers == 0 ? Runtime.getRuntime().availableProcessors() : workers,
        number(environment, "REQUEST_TIMEOUT_MS", 10_000),
        number(environment, "IDLE_TIMEOUT_MS", 60_000),
        number(environment, "WRITE_TIMEOUT_MS", 10_000),
        tls(environment.getOrDefault("TLS_CERT", ""), environment.getOrDefault("TLS_KEY", "")));
  }

  private static SslContext tls(String certificate, String key) {
    if (certificate.isEmpty()) {
      return null;
    }
    var protocols =
        new ApplicationProtocolConfig(
            Protocol.ALPN,
            SelectorFailureBehavior.NO_ADVERTISE,
            SelectedListenerFailureBehavior.ACCEPT,
            ApplicationProtocolNames.HTTP_2,
            ApplicationProtocolNames.HTTP_1_1);
    try {
      return SslContextBuilder.forServer(new File(certificate), new File(key))
          .applicationProtocolConfig(protocols)
          .build();
    } catch (SSLException | IllegalArgumentException wrong) {
      throw new IllegalArgumentException("TLS_CERT=" + certificate + ": " + wrong.getMessage());
    }
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
