import com.sun.net.httpserver.HttpServer;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.ZoneId;
import java.util.zip.CRC32;

/** Goes through each of the C libraries that a service needs: text, files, zip, sockets, threads and time. */
class SelfTest {
    public static void main(String[] arguments) throws Exception {
        System.out.write("text: héllo 数\n".getBytes(StandardCharsets.UTF_8));
        file();
        http();
        thread();
        System.out.println("zone: " + ZoneId.systemDefault().getRules().getOffset(java.time.Instant.EPOCH));
    }

    private static void file() throws Exception {
        byte[] bytes = new byte[1 << 16];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (byte) (i * 31);
        }
        Path path = Files.write(Path.of("self-test.bytes"), bytes);
        CRC32 crc = new CRC32();
        crc.update(Files.readAllBytes(path));
        System.out.println("file: " + Files.size(path) + " bytes, crc " + Long.toHexString(crc.getValue()));
    }

    private static void http() throws Exception {
        var server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/ping", exchange -> {
            exchange.sendResponseHeaders(200, 4);
            try (var body = exchange.getResponseBody()) {
                body.write("pong".getBytes(StandardCharsets.UTF_8));
            }
        });
        server.start();
        try (var socket = new java.net.Socket(InetAddress.getLoopbackAddress(), server.getAddress().getPort())) {
            socket.getOutputStream().write("GET /ping HTTP/1.0\r\n\r\n".getBytes(StandardCharsets.UTF_8));
            String answer = new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            System.out.println("http: " + answer.split(" ")[1] + " " + answer.substring(answer.length() - 4));
        } finally {
            server.stop(0);
        }
    }

    private static void thread() throws Exception {
        Thread.ofVirtual().start(() -> System.out.println("thread: " + (Thread.currentThread().isVirtual() ? "virtual" : "?")))
            .join();
    }
}
