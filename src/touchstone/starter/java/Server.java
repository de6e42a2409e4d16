import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.Executors;

/** A service to begin from. HOST and PORT come from the environment; the JVM ends on SIGTERM. */
public final class Server {
    public static void main(String[] args) throws IOException {
        var address = new InetSocketAddress(System.getenv("HOST"), Integer.parseInt(System.getenv("PORT")));
        var server = HttpServer.create(address, 1024);
        server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        server.createContext("/", exchange -> {
            boolean known = exchange.getRequestURI().getPath().equals("/ping");
            answer(exchange, known ? 200 : 404, known ? "pong" : "not found");
        });
        server.start();
    }

    private static void answer(HttpExchange exchange, int status, String text) throws IOException {
        byte[] body = text.getBytes(StandardCharsets.UTF_8);
        exchange.getResponseHeaders().set("Content-Type", "text/plain; charset=utf-8");
        exchange.sendResponseHeaders(status, body.length);
        try (var out = exchange.getResponseBody()) {
            out.write(body);
        }
    }
}
