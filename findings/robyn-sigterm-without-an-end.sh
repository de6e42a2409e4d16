#!/usr/bin/env bash
# Robyn 0.88.0: after SIGTERM it does not end, and connections that the kernel still takes get no answer
#
# No client has been there before. Its log says "SIGTERM received; starting graceful shutdown". The process has to be killed, after whatever grace period
# its supervisor gives.
source "$(dirname "$0")/common"
python_with robyn==0.88.0
cat > app.py <<'PY'
import sys
from robyn import Robyn
app = Robyn(__file__)
@app.get("/")
async def index(request):
    return "ok"
app.start(host="127.0.0.1", port=int(sys.argv[1]))
PY
port=$(free_port)
start env/bin/python app.py "$port"
pid=$(tail -n 1 started)
listening "$port"
sleep 1
kill -TERM "$pid"
sleep 40
state=$(kill -0 "$pid" 2> /dev/null && echo "it runs" || echo "it has ended")
answer=$(python3 - "$port" <<'PY'
import socket, sys
connection = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
connection.settimeout(5)
connection.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
try:
    print(len(connection.recv(64)), "bytes")
except TimeoutError:
    print("no answer in 5 s")
PY
)
kill -KILL "$pid" 2> /dev/null || true
compare "it runs; no answer in 5 s" "$state; $answer"
