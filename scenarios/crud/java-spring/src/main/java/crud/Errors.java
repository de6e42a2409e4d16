package crud;

import java.sql.SQLException;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.dao.DataAccessException;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.http.converter.HttpMessageNotReadableException;
import org.springframework.web.HttpMediaTypeNotSupportedException;
import org.springframework.web.HttpRequestMethodNotSupportedException;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;
import org.springframework.web.servlet.NoHandlerFoundException;
import org.springframework.web.servlet.resource.NoResourceFoundException;

/** Every failure is answered as JSON with one field. */
@RestControllerAdvice
class Errors {
    record Failure(String error) {}

    private static final Logger log = LoggerFactory.getLogger(Errors.class);

    /**
     * SQLSTATE classes: connection exception, insufficient resources, a database that takes no connections, operator
     * intervention.
     */
    private static final Set<String> AWAY = Set.of("08", "53", "55", "57");

    @ExceptionHandler(HttpMessageNotReadableException.class)
    ResponseEntity<Failure> invalidUser() {
        return answer(
                HttpStatus.BAD_REQUEST,
                "expected a JSON object with name and email (strings without NUL) and age (an integer from 0 to 150), "
                        + "and nothing else");
    }

    @ExceptionHandler(BodyLimit.ExceededException.class)
    ResponseEntity<Failure> bodyTooLarge() {
        return answer(HttpStatus.CONTENT_TOO_LARGE, "the body is over 64 KB");
    }

    @ExceptionHandler(HttpMediaTypeNotSupportedException.class)
    ResponseEntity<Failure> wrongContentType() {
        return answer(HttpStatus.UNSUPPORTED_MEDIA_TYPE, "the content type must be application/json");
    }

    @ExceptionHandler({NoHandlerFoundException.class, NoResourceFoundException.class})
    ResponseEntity<Failure> unknownPath() {
        return answer(HttpStatus.NOT_FOUND, "not found");
    }

    @ExceptionHandler(HttpRequestMethodNotSupportedException.class)
    ResponseEntity<Failure> wrongMethod(HttpRequestMethodNotSupportedException e) {
        String allowed = String.join(", ", e.getSupportedMethods());
        return ResponseEntity.status(HttpStatus.METHOD_NOT_ALLOWED)
                // Spring answers HEAD wherever it answers GET, and does not list it.
                .header(HttpHeaders.ALLOW, allowed.equals("GET") ? "GET, HEAD" : allowed)
                .contentType(MediaType.APPLICATION_JSON)
                .body(new Failure("method not allowed"));
    }

    @ExceptionHandler(DataAccessException.class)
    ResponseEntity<Failure> failed(DataAccessException e) {
        if (isAway(e.getMostSpecificCause())) {
            return answer(HttpStatus.SERVICE_UNAVAILABLE, "the database is unavailable");
        }
        log.error("statement failed", e);
        return answer(HttpStatus.INTERNAL_SERVER_ERROR, "internal error");
    }

    /** Tells a database that cannot serve from a statement that is wrong. */
    private static boolean isAway(Throwable cause) {
        if (!(cause instanceof SQLException e) || e.getSQLState() == null) {
            return true;
        }
        return AWAY.contains(e.getSQLState().substring(0, 2));
    }

    private static ResponseEntity<Failure> answer(HttpStatus status, String error) {
        return ResponseEntity.status(status).contentType(MediaType.APPLICATION_JSON).body(new Failure(error));
    }
}
