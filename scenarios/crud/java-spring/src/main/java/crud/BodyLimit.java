package crud;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.Type;
import org.springframework.core.MethodParameter;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpInputMessage;
import org.springframework.http.converter.HttpMessageConverter;
import org.springframework.web.bind.annotation.ControllerAdvice;
import org.springframework.web.servlet.mvc.method.annotation.RequestBodyAdviceAdapter;

/** Reads no body beyond 64 KB; Tomcat has a limit for forms alone. */
@ControllerAdvice
class BodyLimit extends RequestBodyAdviceAdapter {
    private static final int MAX_BODY = 64 * 1024;

    static class ExceededException extends RuntimeException {}

    private record Body(HttpHeaders headers, byte[] bytes) implements HttpInputMessage {
        @Override
        public HttpHeaders getHeaders() {
            return headers;
        }

        @Override
        public InputStream getBody() {
            return new ByteArrayInputStream(bytes);
        }
    }

    @Override
    public boolean supports(MethodParameter parameter, Type type, Class<? extends HttpMessageConverter<?>> converter) {
        return true;
    }

    @Override
    public HttpInputMessage beforeBodyRead(
            HttpInputMessage message,
            MethodParameter parameter,
            Type type,
            Class<? extends HttpMessageConverter<?>> converter)
            throws IOException {
        byte[] bytes = message.getBody().readNBytes(MAX_BODY + 1);
        if (bytes.length > MAX_BODY) {
            throw new ExceededException();
        }
        return new Body(message.getHeaders(), bytes);
    }
}
