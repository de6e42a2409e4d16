#!/usr/bin/env bash
# Tornado 6.6.1 and Twisted 26.10.0: a head above 64 or 16 KiB is answered by a closed connection, without a status
#
# A client sees a lost connection, and may send the request again. aiohttp answers 400, gevent 400 and 414, waitress 431.
source "$(dirname "$0")/common"
python_with tornado==6.6.1 twisted==26.10.0
cat > tornado_app.py <<'PY'
import asyncio, sys
import tornado.web
class Handler(tornado.web.RequestHandler):
    def get(self):
        self.write("ok")
async def main():
    tornado.web.Application([("/", Handler)]).listen(int(sys.argv[1]), "127.0.0.1")
    await asyncio.Event().wait()
asyncio.run(main())
PY
cat > twisted_app.py <<'PY'
import sys
from twisted.internet import reactor
from twisted.web import resource, server
class Resource(resource.Resource):
    isLeaf = True
    def render_GET(self, request):
        return b"ok"
reactor.listenTCP(int(sys.argv[1]), server.Site(Resource()), interface="127.0.0.1")
reactor.run()
PY
seen=
for name in tornado twisted; do
  port=$(free_port)
  start env/bin/python "${name}_app.py" "$port"
  listening "$port"
  seen="$seen$name: $(python3 - "$port" <<'PY'
import socket, sys
found = []
for kib in (8, 15, 60, 70):
    connection = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
    connection.settimeout(5)
    received = b""
    try:
        connection.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nX-Value: " + b"a" * (kib * 1024) + b"\r\n\r\n")
        received = connection.recv(64)
    except ConnectionError:
        pass
    found.append(f"{kib} KiB {received[9:12].decode() or 'closed'}")
print(*found, sep=", ")
PY
); "
done
compare "tornado: 8 KiB 200, 15 KiB 200, 60 KiB 200, 70 KiB closed; twisted: 8 KiB 200, 15 KiB 200, 60 KiB closed, 70 KiB closed; " "$seen"
