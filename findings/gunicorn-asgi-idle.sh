#!/usr/bin/env bash
# gunicorn 27.0.1 with `-k asgi`: an idle connection is closed after 2 s, without a `Connection` field that says so
#
# uvicorn's default is 5 s, Node's 6, nginx's 75. A load with a think time of 2 s meets a closed connection each time.
source "$(dirname "$0")/common"
python_with gunicorn==27.0.1
asgi_app
port=$(free_port)
start env/bin/gunicorn -k asgi -b "127.0.0.1:$port" app:app
listening "$port"
seen=$(python3 - "$port" <<'PY'
import socket, sys, time
client = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
client.settimeout(20)
client.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
head = client.recv(4096).lower()
begin = time.monotonic()
client.recv(1)
print(f"closed after {time.monotonic() - begin:.0f} s,", "announced" if b"connection:" in head else "not announced")
PY
)
compare "closed after 2 s, not announced" "$seen"
