package crud;

import java.net.URI;
import java.time.Duration;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.jdbc.autoconfigure.JdbcConnectionDetails;
import org.springframework.stereotype.Component;

/** DATABASE_URL, {@code postgres://user:password@host:port/database}, as JDBC has it. */
@Component
class DatabaseAddress implements JdbcConnectionDetails {
    private final URI url;
    private final Duration timeout;

    DatabaseAddress(@Value("${DATABASE_URL}") URI url, @Value("${DATABASE_TIMEOUT_MS:10000}ms") Duration timeout) {
        this.url = url;
        this.timeout = timeout;
    }

    @Override
    public String getJdbcUrl() {
        long seconds = Math.max(1, timeout.toSeconds());
        int port = url.getPort() < 0 ? 5432 : url.getPort();
        return "jdbc:postgresql://%s:%d%s?connectTimeout=%d&socketTimeout=%d"
                .formatted(url.getHost(), port, url.getRawPath(), seconds, seconds);
    }

    @Override
    public String getUsername() {
        return credential(0);
    }

    @Override
    public String getPassword() {
        return credential(1);
    }

    private String credential(int index) {
        String both = url.getUserInfo();
        String[] parts = both == null ? new String[0] : both.split(":", 2);
        return index < parts.length ? parts[index] : null;
    }
}
