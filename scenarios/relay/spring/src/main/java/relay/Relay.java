package relay;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.context.properties.EnableConfigurationProperties;

/** Calls a downstream for each request that comes by HTTP and for each message that comes by Kafka. */
@SpringBootApplication(proxyBeanMethods = false)
@EnableConfigurationProperties(DownstreamProperties.class)
public class Relay {
    public static void main(String[] args) {
        SpringApplication.run(Relay.class, args);
    }
}
