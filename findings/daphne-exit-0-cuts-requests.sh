#!/usr/bin/env bash
# Daphne 4.2.3 on Twisted 26.10.0: SIGTERM cuts the request in flight at once, and the exit code is 0 as after a clean end
#
# So neither a supervisor nor a log shows a lost request. uvicorn, granian and hypercorn answer the same request first.
source "$(dirname "$0")/common"
python_with daphne==4.2.3 twisted==26.10.0
cat > app.py <<'PY'
import asyncio
async def app(scope, receive, send):
    if scope["type"] == "http":
        await asyncio.sleep(1.0)
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
        await send({"type": "http.response.body", "body": b"ok"})
PY
port=$(free_port)
cat > stop.py <<'PY'
import socket, subprocess, sys, time
port = int(sys.argv[1])
server = subprocess.Popen(["env/bin/daphne", "-b", "127.0.0.1", "-p", str(port), "app:app"], stderr=subprocess.DEVNULL)
for _ in range(400):
    try:
        connection = socket.create_connection(("127.0.0.1", port))
        break
    except OSError:
        time.sleep(0.05)
connection.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
time.sleep(0.5)
server.terminate()
answered = connection.recv(64)
print(f"{len(answered)} bytes of a response, exit code {server.wait()}")
PY
compare "0 bytes of a response, exit code 0" "$(python3 stop.py "$port")"
