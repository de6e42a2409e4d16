#!/usr/bin/env bash
# JDK 17 and 25: com.sun.net.httpserver closes each connection beyond 200 idle ones as soon as its response is sent
#
# The bound is the system property sun.net.httpserver.maxIdleConnections, 200. No response says `Connection: close`, so that the
# next request of a client with 300 connections meets a closed one.
source "$(dirname "$0")/common"
old=$(jdk 17)
new=$(jdk 25)
cat > Idle.java <<'JAVA'
import com.sun.net.httpserver.HttpServer;
import java.io.InputStream;
import java.net.*;
import java.util.*;
public class Idle {
    public static void main(String[] args) throws Exception {
        var server = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 1024);
        server.createContext("/", exchange -> {
            exchange.sendResponseHeaders(200, 2);
            exchange.getResponseBody().write("ok".getBytes());
            exchange.close();
        });
        server.start();
        List<Socket> clients = new ArrayList<>();
        int announced = 0;
        for (int i = 0; i < 300; i++) {
            var client = new Socket("127.0.0.1", server.getAddress().getPort());
            client.getOutputStream().write("GET / HTTP/1.1\r\nHost: x\r\n\r\n".getBytes());
            var text = new StringBuilder();
            while (!text.toString().endsWith("\r\n\r\nok")) text.append((char) client.getInputStream().read());
            if (text.toString().toLowerCase().contains("connection: close")) announced++;
            clients.add(client);
        }
        Thread.sleep(500);
        int closed = 0;
        for (var client : clients) {
            client.setSoTimeout(1);
            try { if (client.getInputStream().read() < 0) closed++; } catch (SocketTimeoutException open) { }
        }
        System.out.println(closed + " of 300 closed, " + announced + " announced");
        System.exit(0);
    }
}
JAVA
"$old/javac" Idle.java
closed="100 of 300 closed, 0 announced"
compare "JDK 17: $closed; JDK 25: $closed" "JDK 17: $("$old/java" Idle); JDK 25: $("$new/java" Idle)"
