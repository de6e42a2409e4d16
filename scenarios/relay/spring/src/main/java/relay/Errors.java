package relay;

import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.web.HttpRequestMethodNotSupportedException;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;
import org.springframework.web.servlet.NoHandlerFoundException;
import org.springframework.web.servlet.resource.NoResourceFoundException;

/** Every failure is answered as JSON with one field. */
@RestControllerAdvice
class Errors {
    record Failure(String error) {}

    @ExceptionHandler
    ResponseEntity<Failure> tooSlow(Downstream.TooSlowException e) {
        return answer(HttpStatus.GATEWAY_TIMEOUT, "the downstream did not answer in time");
    }

    @ExceptionHandler
    ResponseEntity<Failure> failed(Downstream.FailedException e) {
        return answer(HttpStatus.SERVICE_UNAVAILABLE, "the downstream failed");
    }

    @ExceptionHandler({NoHandlerFoundException.class, NoResourceFoundException.class})
    ResponseEntity<Failure> unknownPath() {
        return answer(HttpStatus.NOT_FOUND, "not found");
    }

    @ExceptionHandler(HttpRequestMethodNotSupportedException.class)
    ResponseEntity<Failure> wrongMethod() {
        // Spring answers HEAD wherever it answers GET, and does not list it.
        return ResponseEntity.status(HttpStatus.METHOD_NOT_ALLOWED)
                .header(HttpHeaders.ALLOW, "GET, HEAD")
                .contentType(MediaType.APPLICATION_JSON)
                .body(new Failure("method not allowed"));
    }

    private static ResponseEntity<Failure> answer(HttpStatus status, String error) {
        return ResponseEntity.status(status).contentType(MediaType.APPLICATION_JSON).body(new Failure(error));
    }
}
