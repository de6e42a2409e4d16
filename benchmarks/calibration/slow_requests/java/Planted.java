import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;
import java.util.Arrays;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;

/** Serves GET /hello; one request in fifty collects a heap of SIZE MiB in small linked pieces. */
class Planted {
    static final int RARE = 50;
    static final int EACH = (1 << 20) / 64;

    static class Node {
        Node next;
        long a, b, c, d, e;
    }

    static volatile Node kept;

    public static void main(String[] args) throws Exception {
        int size = Integer.parseInt(System.getenv("SIZE"));
        for (int left = size * EACH; left > 0; left--) {
            Node node = new Node();
            node.next = kept;
            kept = node;
        }
        var took = new ConcurrentLinkedQueue<Long>();
        var requests = new AtomicLong();
        byte[] body = "Hello, world!".getBytes();
        var address = new InetSocketAddress(System.getenv("HOST"), Integer.parseInt(System.getenv("PORT")));
        HttpServer server = HttpServer.create(address, 0);
        server.createContext("/", exchange -> {
            boolean found = exchange.getRequestURI().getPath().equals("/hello");
            long begin = System.nanoTime();
            if (found && requests.incrementAndGet() % RARE == 0) {
                System.gc();
            }
            if (found) {
                took.add(System.nanoTime() - begin);
            }
            exchange.sendResponseHeaders(found ? 200 : 404, found ? body.length : -1);
            try (var out = exchange.getResponseBody()) {
                out.write(found ? body : new byte[0]);
            }
        });
        server.setExecutor(Executors.newFixedThreadPool(16));
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            long[] sorted = took.stream().mapToLong(Long::longValue).sorted().toArray();
            double tail = mean(sorted, 0.985, 0.995) / 1e6, median = mean(sorted, 0.40, 0.60) / 1e6;
            System.err.printf("planted: p99 %.3f ms, median %.3f ms%n", tail, median);
        }));
        server.start();
    }

    /** The mean of the values between two ranks. */
    static double mean(long[] sorted, double low, double high) {
        int begin = (int) (low * sorted.length);
        return Arrays.stream(sorted, begin, Math.max(begin + 1, (int) (high * sorted.length))).average().orElse(0);
    }
}
