package relay;

import java.net.URI;
import java.time.Duration;
import org.springframework.boot.context.properties.ConfigurationProperties;

/** Where the downstream is, how many connections it may get, and how long it may take. */
@ConfigurationProperties("relay.downstream")
public record DownstreamProperties(URI url, int pool, Duration timeout) {}
