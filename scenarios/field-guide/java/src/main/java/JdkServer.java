import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.concurrent.Executors;

/** com.sun.net.httpserver, with a virtual thread for each request. */
final class JdkServer {
    public static void main(String[] args) throws IOException {
        HttpServer server = HttpServer.create(new InetSocketAddress(Address.HOST, Address.PORT), 0);
        server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        server.createContext("/hello", JdkServer::hello);
        server.createContext("/slow", exchange -> {
            try {
                Thread.sleep(1000);
            } catch (InterruptedException interrupted) {
                Thread.currentThread().interrupt();
            }
            hello(exchange);
        });
        server.start();
        Address.onStop(() -> server.stop(10));
    }

    private static void hello(HttpExchange exchange) throws IOException {
        byte[] body = Address.HELLO.getBytes();
        exchange.getResponseHeaders().set("Content-Type", "text/plain");
        boolean head = exchange.getRequestMethod().equals("HEAD");
        exchange.sendResponseHeaders(200, head ? -1 : body.length);
        if (!head) {
            exchange.getResponseBody().write(body);
        }
        exchange.close();
    }
}
