#!/usr/bin/env bash
# hypercorn 0.18.0: a kept-alive connection ends after 1,000 responses, by default and without a word in the log
#
# keep_alive_max_requests is 1000. Response 1,000 carries `connection: close`; a load generator that keeps its connections sees
# a close every 1,000 requests, and counts it as the server's failure unless it tells an announced close from a broken one.
set -euo pipefail
work=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null || true; rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check hypercorn==0.18.0
cat > app.py <<'PY'
async def app(scope, receive, send):
    if scope["type"] == "http":
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
        await send({"type": "http.response.body", "body": b"ok"})
PY
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
env/bin/hypercorn --bind "127.0.0.1:$port" app:app > server.log 2>&1 &
server=$!
cat > client.py <<'PY'
import http.client, sys, time
for _ in range(100):
    connection = http.client.HTTPConnection("127.0.0.1", int(sys.argv[1]), timeout=10)
    try:
        connection.connect()
        break
    except OSError:
        time.sleep(0.1)
for count in range(1, 1200):
    connection.request("GET", "/")
    response = connection.getresponse()
    response.read()
    if (response.getheader("connection") or "").lower() == "close":
        print(count)
        break
else:
    print("never")
PY
closed=$(python3 client.py "$port")
[ "$closed" = 1000 ] || { echo "changed: the connection closes after $closed responses"; cat server.log; exit 1; }
echo "as described: response $closed says connection: close"
