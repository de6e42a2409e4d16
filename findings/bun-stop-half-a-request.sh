#!/usr/bin/env bash
# Bun 1.4.5: `await server.stop()` does not return while a client has sent half of a request
#
# Connections that are idle or silent are closed at once. SIGKILL comes ten seconds after SIGTERM in many deployments.
source "$(dirname "$0")/common"
node_with @oven/bun-linux-x64@1.4.5
port=$(free_port)
cat > server.js <<'JS'
const server = Bun.serve({ hostname: '127.0.0.1', port: Number(process.argv[2]), fetch: () => new Response('ok') });
process.on('SIGTERM', async () => { await server.stop(); process.exit(); });
JS
seen=$(python3 - "$port" <<'PY'
import socket, subprocess, sys, time
def ends(sent):
    server = subprocess.Popen(["node_modules/@oven/bun-linux-x64/bin/bun", "server.js", sys.argv[1]])
    for _ in range(200):
        try:
            connection = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
            break
        except OSError:
            time.sleep(0.05)
    connection.sendall(sent)
    if sent.endswith(b"\r\n\r\n"):
        connection.recv(65536)
    time.sleep(0.5)
    server.terminate()
    try:
        server.wait(6)
        return "yes"
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()
        return "no"
    finally:
        connection.close()
whole = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"
print(f"ends within 6 s: idle {ends(whole)}, silent {ends(b'')}, half {ends(whole[:15])}")
PY
)
compare "ends within 6 s: idle yes, silent yes, half no" "$seen"
