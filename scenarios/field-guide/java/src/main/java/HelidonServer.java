import io.helidon.http.HeaderNames;
import io.helidon.webserver.WebServer;
import io.helidon.webserver.http.ServerResponse;

/** Helidon SE, which handles SIGTERM by itself. */
final class HelidonServer {
    public static void main(String[] args) {
        WebServer.builder()
            .host(Address.HOST)
            .port(Address.PORT)
            .routing(routing -> routing
                .get("/hello", (request, response) -> hello(response))
                .get("/slow", (request, response) -> {
                    Thread.sleep(1000);
                    hello(response);
                }))
            .build()
            .start();
    }

    private static void hello(ServerResponse response) {
        response.header(HeaderNames.CONTENT_TYPE, "text/plain").send(Address.HELLO);
    }
}
