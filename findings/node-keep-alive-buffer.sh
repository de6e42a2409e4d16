#!/usr/bin/env bash
# Node 26.10.0: `keepAliveTimeout: 2000` announces `Keep-Alive: timeout=2` and closes after 3 s
#
# Since Node 20.19 and 22.14 a buffer of 1 s (`keepAliveTimeoutBuffer`) is added to what is set, and to the default of 5 s.
source "$(dirname "$0")/common"
node_with node@26.10.0
echo 'require("http").createServer({ keepAliveTimeout: 2000 }, (q, r) => r.end("ok")).listen(Number(process.argv[2]));' > server.js
port=$(free_port)
start node_modules/.bin/node server.js "$port"
listening "$port"
seen=$(python3 - "$port" <<'PY'
import re, socket, sys, time
client = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
client.settimeout(20)
client.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
said = re.search(rb"Keep-Alive: (\S+)", client.recv(4096))[1].decode()
begin = time.monotonic()
client.recv(1)
print(f"{said}, closed after {time.monotonic() - begin:.0f} s")
PY
)
compare "timeout=2, closed after 3 s" "$seen"
