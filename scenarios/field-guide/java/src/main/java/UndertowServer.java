import io.undertow.Handlers;
import io.undertow.Undertow;
import io.undertow.server.HttpServerExchange;
import io.undertow.util.Headers;

/** Undertow, which has a handler for a graceful stop that nobody gets without asking. */
final class UndertowServer {
    public static void main(String[] args) {
        Undertow server = Undertow.builder()
            .addHttpListener(Address.PORT, Address.HOST)
            .setHandler(Handlers.path()
                .addExactPath("/hello", UndertowServer::hello)
                .addExactPath("/slow", exchange -> exchange.dispatch(() -> {
                    try {
                        Thread.sleep(1000);
                    } catch (InterruptedException interrupted) {
                        Thread.currentThread().interrupt();
                    }
                    hello(exchange);
                })))
            .build();
        server.start();
        Address.onStop(server::stop);
    }

    private static void hello(HttpServerExchange exchange) {
        exchange.getResponseHeaders().put(Headers.CONTENT_TYPE, "text/plain");
        exchange.getResponseSender().send(Address.HELLO);
    }
}
