#!/usr/bin/env bash
# Fastify 5.12.8 on Node 26.10.0: close() waits 72 s and more for a kept connection that was busy when it was called
#
# Connections at rest are closed once, at the call. A connection that is answered later is kept with `Connection: keep-alive`
# until its idle timeout, so that a process that calls close() on SIGTERM outlasts every usual grace period.
source "$(dirname "$0")/common"
node_with fastify@5.12.8 node@26.10.0
cat > server.js <<'JS'
const fastify = require("fastify")();
fastify.get("/", async () => { await new Promise((done) => setTimeout(done, 500)); return "ok"; });
process.on("SIGTERM", () => fastify.close());
fastify.listen({ port: Number(process.argv[2]) });
JS
port=$(free_port)
start node_modules/.bin/node server.js "$port"
listening "$port"
seen=$(python3 - "$port" "$(cat started)" <<'PY'
import os, signal, socket, sys, time
client = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
client.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
time.sleep(0.2)
os.kill(int(sys.argv[2]), signal.SIGTERM)
client.settimeout(100)
head = client.recv(4096).lower()
begin = time.monotonic()
client.recv(1)
waited = time.monotonic() - begin
print("kept" if b"connection: keep-alive" in head else "closed", "and open for", "70 to 80 s" if 70 < waited < 80 else f"{waited:.1f} s")
PY
)
compare "kept and open for 70 to 80 s" "$seen"
