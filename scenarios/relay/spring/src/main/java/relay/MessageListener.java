package relay;

import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.annotation.Bean;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.listener.CommonErrorHandler;
import org.springframework.kafka.listener.DefaultErrorHandler;
import org.springframework.kafka.KafkaException;
import org.springframework.stereotype.Component;
import org.springframework.util.backoff.ExponentialBackOff;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;

/** The Kafka side: one call of the downstream a message, in each partition's order. */
@Component
class MessageListener {
    private static final Logger LOG = LoggerFactory.getLogger(MessageListener.class);

    record Message(String id) {}

    private final Downstream downstream;
    private final Stats stats;
    private final JsonMapper json;

    MessageListener(Downstream downstream, Stats stats, JsonMapper json) {
        this.downstream = downstream;
        this.stats = stats;
        this.json = json;
    }

    @KafkaListener(topics = "${relay.kafka.topic}")
    void on(ConsumerRecord<byte[], byte[]> record) {
        Message message;
        try {
            message = json.readValue(record.value(), Message.class);
            if (message == null || message.id() == null) {
                throw new IllegalArgumentException("it has no id");
            }
        } catch (JacksonException | IllegalArgumentException e) {
            LOG.warn("message skipped: partition {}, offset {}: {}", record.partition(), record.offset(), e.getMessage());
            stats.skip();
            return;
        }
        downstream.callFor(message.id());
        stats.done(record.partition());
    }

    /** Delivers a message whose call failed again until it succeeds: it is never given up for a failure not its own. */
    @Bean
    static CommonErrorHandler retryForever() {
        var pauses = new ExponentialBackOff(100, 2);
        pauses.setMaxInterval(2_000);
        var handler = new DefaultErrorHandler(pauses);
        handler.setLogLevel(KafkaException.Level.WARN);
        return handler;
    }
}
