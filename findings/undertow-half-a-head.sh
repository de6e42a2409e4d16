#!/usr/bin/env bash
# Undertow 2.4.4: silent and idle connections are closed after 60 s though nothing sets it; one with half of a head stays open
#
# NO_REQUEST_TIMEOUT is 60 s by default, and REQUEST_PARSE_TIMEOUT is off: the first bytes of a head end the one timeout that there
# is. A proxy that keeps its connections for 60 s or longer meets closed ones.
source "$(dirname "$0")/common"
java_with io.undertow:undertow-core:2.4.4.Final
cat > Server.java <<'JAVA'
import io.undertow.Undertow;
public class Server {
    public static void main(String[] args) {
        Undertow.builder()
            .addHttpListener(Integer.parseInt(args[0]), "127.0.0.1")
            .setHandler(exchange -> exchange.getResponseSender().send("ok"))
            .build()
            .start();
    }
}
JAVA
"$java/javac" -cp "$classpath" Server.java
port=$(free_port)
start "$java/java" -cp "$classpath:." Server "$port"
listening "$port"
seen=$(python3 - "$port" <<'PY'
import select, socket, sys, time
names, seen, begin, bound = {}, {}, time.monotonic(), 90
for name, sent in ("silent", ""), ("idle", "GET / HTTP/1.1\r\nHost: a\r\n\r\n"), ("half a head", "GET / HTTP/1.1\r\nHo"):
    connection = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
    connection.sendall(sent.encode())
    names[connection], seen[name] = name, f"open after {bound} s"
while (left := begin + bound - time.monotonic()) > 0:
    for connection in select.select(list(names), [], [], left)[0]:
        if not connection.recv(4096):
            took = time.monotonic() - begin
            seen[names.pop(connection)] = "closed after 60 s" if 59 < took < 65 else f"closed after {took:.0f} s"
print(*(f"{name}: {end}" for name, end in seen.items()), sep=", ")
PY
)
compare "silent: closed after 60 s, idle: closed after 60 s, half a head: open after 90 s" "$seen"
