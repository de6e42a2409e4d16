#!/usr/bin/env bash
# Bun 1.4.5: two pipelined requests to an async handler get no response at all: the connection is closed
#
# RFC 9112, section 9.3.2, lets clients pipeline. With a handler that answers at once both are answered.
source "$(dirname "$0")/common"
node_with bun@1.4.5
cat > server.js <<'JS'
const at = process.argv[2] === "async" ? async () => { await Bun.sleep(5); return new Response("ok"); } : () => new Response("ok");
Bun.serve({ hostname: "127.0.0.1", port: Number(process.argv[3]), fetch: at });
JS
answered() { # responses to two pipelined requests
  port=$(free_port)
  start node_modules/.bin/bun server.js "$1" "$port"
  listening "$port"
  python3 - "$port" <<'PY'
import socket, sys
client = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
client.settimeout(2)
client.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n" * 2)
got, end = b"", "open"
try:
    while part := client.recv(4096):
        got += part
    end = "closed"
except TimeoutError:
    pass
print(got.count(b"HTTP/1.1 200"), "responses,", end)
PY
}
compare "at once: 2 responses, open; async: 0 responses, closed" "at once: $(answered sync); async: $(answered async)"
