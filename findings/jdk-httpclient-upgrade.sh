#!/usr/bin/env bash
# JDK 25 HttpClient: every request to an http URL asks for an upgrade to HTTP/2, on a kept connection that has refused it too
#
# A client of the default version adds `Connection: Upgrade, HTTP2-Settings`, `Upgrade: h2c` and `HTTP2-Settings`, more than a hundred bytes,
# to each request. A benchmark of a plain service measures them, unless the client is built with `version(HTTP_1_1)`.
source "$(dirname "$0")/common"
java=$(jdk 25)
cat > Client.java <<'JAVA'
import java.net.URI;
import java.net.http.*;
public class Client {
    public static void main(String[] args) throws Exception {
        for (var version : HttpClient.Version.values()) {
            var client = HttpClient.newBuilder().version(version).build();
            var request = HttpRequest.newBuilder(URI.create(args[0])).build();
            for (int i = 0; i < 3; i++) client.send(request, HttpResponse.BodyHandlers.ofString());
        }
    }
}
JAVA
cat > server.py <<'PY'
import socketserver, sys
class Handler(socketserver.StreamRequestHandler):
    def handle(self):
        heads = []
        while head := b"".join(iter(self.rfile.readline, b"\r\n")):
            heads.append(len(head) if b"Upgrade: h2c" in head else 0)
            self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            with open("seen", "a") as file:
                print(f"request {len(heads)} {'asks' if heads[-1] else 'does not ask'}", file=file)
server = socketserver.ThreadingTCPServer(("127.0.0.1", int(sys.argv[1])), Handler)
server.daemon_threads = True
server.serve_forever()
PY
port=$(free_port)
start python3 server.py "$port"
listening "$port"
"$java/java" Client.java "http://127.0.0.1:$port/"
compare "request 1 does not ask; request 2 does not ask; request 3 does not ask; request 1 asks; request 2 asks; request 3 asks" \
  "$(paste -sd ';' seen | sed 's/;/; /g')"
