package users;

import java.nio.charset.StandardCharsets;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.dao.DataAccessException;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.web.HttpRequestMethodNotSupportedException;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;
import org.springframework.web.servlet.NoHandlerFoundException;
import org.springframework.web.servlet.resource.NoResourceFoundException;

/** Every answer is plain text in UTF-8, failures too. */
@RestControllerAdvice
class Answers {
    private static final Logger log = LoggerFactory.getLogger(Answers.class);
    private static final MediaType TEXT = new MediaType(MediaType.TEXT_PLAIN, StandardCharsets.UTF_8);

    static ResponseEntity<String> text(HttpStatus status, String body) {
        return ResponseEntity.status(status).contentType(TEXT).body(body);
    }

    static ResponseEntity<String> nameRequired() {
        return text(HttpStatus.BAD_REQUEST, "name is required");
    }

    @ExceptionHandler({NoHandlerFoundException.class, NoResourceFoundException.class})
    ResponseEntity<String> unknownPath() {
        return text(HttpStatus.NOT_FOUND, "not found");
    }

    @ExceptionHandler(HttpRequestMethodNotSupportedException.class)
    ResponseEntity<String> wrongMethod() {
        // Spring lists GET alone, though it answers HEAD as well.
        return ResponseEntity.status(HttpStatus.METHOD_NOT_ALLOWED)
                .header(HttpHeaders.ALLOW, "GET, HEAD")
                .contentType(TEXT)
                .body("method not allowed");
    }

    @ExceptionHandler(DataAccessException.class)
    ResponseEntity<String> failed(DataAccessException e) {
        log.error("lookup failed", e);
        return text(HttpStatus.INTERNAL_SERVER_ERROR, "internal error");
    }
}
