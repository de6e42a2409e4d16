import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/** A service to begin from. HOST and PORT come from the environment; the JVM ends on SIGTERM. */
public final class Server {
    public static void main(String[] args) throws IOException {
        var address = new InetSocketAddress(System.getenv("HOST"), Integer.parseInt(System.getenv("PORT")));
        var server = HttpServer.create(address, 1024);
        var workers = Executors.newVirtualThreadPerTaskExecutor();
        server.setExecutor(workers);
        server.createContext("/", exchange -> {
            boolean known = exchange.getRequestURI().getPath().equals("/ping");
            answer(exchange, known ? 200 : 404, known ? "pong" : "not found");
        });
        Runtime.getRuntime().addShutdownHook(new Thread(() -> finish(workers)));
        server.start();
    }

    /** Lets requests in flight be answered: without it the JVM would end at once. */
    private static void finish(ExecutorService workers) {
        workers.shutdown();
        try {
            workers.awaitTermination(5, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
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
