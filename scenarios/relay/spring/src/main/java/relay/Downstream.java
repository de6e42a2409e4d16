package relay;

import java.net.http.HttpClient;
import java.net.http.HttpTimeoutException;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.springframework.http.HttpStatus;
import org.springframework.http.client.JdkClientHttpRequestFactory;
import org.springframework.stereotype.Component;
import org.springframework.web.client.ResourceAccessException;
import org.springframework.web.client.RestClient;
import org.springframework.web.client.RestClientException;

/** The service that is called, by kept connections. */
@Component
public class Downstream {
    /** The downstream brought nothing. */
    public static class FailedException extends RuntimeException {
        FailedException(String message, Throwable cause) {
            super(message, cause, false, false);
        }
    }

    /** The downstream did not answer in time. */
    public static class TooSlowException extends FailedException {
        TooSlowException(Throwable cause) {
            super("the downstream did not answer in time", cause);
        }
    }

    private final RestClient client;
    private final DownstreamProperties properties;

    /** The JDK's client keeps connections and does not bound their number: this does. */
    private final Semaphore slots;

    Downstream(RestClient.Builder builder, DownstreamProperties properties) {
        this.properties = properties;
        this.slots = new Semaphore(properties.pool());
        var executor = Executors.newVirtualThreadPerTaskExecutor();
        var http = HttpClient.newBuilder()
                .version(HttpClient.Version.HTTP_1_1)
                .connectTimeout(properties.timeout())
                .executor(executor)
                .build();
        var factory = new JdkClientHttpRequestFactory(http, executor);
        factory.setReadTimeout(properties.timeout());
        this.client = builder.baseUrl(properties.url()).requestFactory(factory).build();
    }

    /** Gets /echo. */
    public void call() {
        exchange(client.get().uri("/echo"));
    }

    /** Gets /echo with a message's id. */
    public void callFor(String id) {
        exchange(client.get().uri("/echo?id={id}", id));
    }

    private void exchange(RestClient.RequestHeadersSpec<?> request) {
        try {
            if (!slots.tryAcquire(properties.timeout().toMillis(), TimeUnit.MILLISECONDS)) {
                throw new TooSlowException(null);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new FailedException("interrupted", e);
        }
        try {
            var status = request.retrieve().toBodilessEntity().getStatusCode();
            if (!status.isSameCodeAs(HttpStatus.OK)) {
                throw new FailedException("the downstream answered " + status, null);
            }
        } catch (ResourceAccessException e) {
            if (e.getCause() instanceof HttpTimeoutException) {
                throw new TooSlowException(e);
            }
            throw new FailedException("the downstream failed: " + e.getMessage(), e);
        } catch (RestClientException e) {
            throw new FailedException("the downstream failed: " + e.getMessage(), e);
        } finally {
            slots.release();
        }
    }
}
