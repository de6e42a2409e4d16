#!/usr/bin/env bash
# cheroot 11.1.2: of sixty busy connections more than a third get one response or none in three seconds, and the busiest hundreds
#
# A thread (there are ten) stays with a connection whose next request comes at once. Throughput and percentiles look well, because a
# connection without responses has no latencies. waitress 3.0.2 serves all sixty alike: it takes the requests of all connections in turn.
source "$(dirname "$0")/common"
python_with cheroot==11.1.2 waitress==3.0.2
cat > app.py <<'PY'
def app(environ, start_response):
    start_response("200 OK", [("Content-Length", "2")])
    return [b"ok"]
PY
cat > serve.py <<'PY'
import sys
from app import app
from cheroot.wsgi import Server
Server(("127.0.0.1", int(sys.argv[1])), app).start()
PY
cat > load.py <<'PY'
import asyncio, sys, time
counts = [0] * 60
async def client(number):
    reader, writer = await asyncio.open_connection("127.0.0.1", int(sys.argv[1]))
    while True:
        writer.write(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        await reader.readuntil(b"\r\n\r\nok")
        counts[number] += 1
async def main():
    clients = [asyncio.create_task(client(number)) for number in range(60)]
    await asyncio.sleep(3)
    for task in clients:
        task.cancel()
    await asyncio.gather(*clients, return_exceptions=True)
asyncio.run(main())
starved = sum(count <= 1 for count in counts)
print("many starve" if starved >= 20 and max(counts) >= 100 else "all are served" if min(counts) > max(counts) / 10 else counts)
PY
port=$(free_port)
start env/bin/python serve.py "$port"
listening "$port"
seen="cheroot: $(python3 load.py "$port")"
port=$(free_port)
start env/bin/waitress-serve --listen="127.0.0.1:$port" app:app
listening "$port"
compare "cheroot: many starve, waitress: all are served" "$seen, waitress: $(python3 load.py "$port")"
