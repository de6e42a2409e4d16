#!/usr/bin/env bash
# wrk 4.1.0: `-c 100 -t 3` holds 99 connections and prints 100
#
# Each thread opens connections / threads, rounded down. The head line still says "3 threads and 100 connections", so that rate
# times mean latency is a hundredth short of what is printed, and more with fewer connections.
source "$(dirname "$0")/common"
{ wrk -v 2>&1 || true; } | grep -q '4\.1\.0' || skip "needs wrk 4.1.0 (Debian)"
cat > "$work/server.py" <<'PY'
import asyncio, sys
opened = 0
async def serve(reader, writer):
    global opened
    opened += 1
    open(sys.argv[1], "w").write(str(opened))
    try:
        while await reader.readuntil(b"\r\n\r\n"):
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    writer.close()
async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", 0, backlog=512)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()
asyncio.run(main())
PY
python3 "$work/server.py" "$work/opened" > "$work/port" &
echo $! >> "$work/started"
for _ in $(seq 100); do [ -s "$work/port" ] && break; sleep 0.1; done
opened() { # how many connections a load with this many threads opens
  before=$(cat "$work/opened" 2> /dev/null || echo 0)
  wrk -c 100 -t "$1" -d 1s "http://127.0.0.1:$(cat "$work/port")/" > "$work/out.txt"
  echo $(($(cat "$work/opened") - before))
}
even=$(opened 2)
odd=$(opened 3)
head=$(grep -o '[0-9]* threads and [0-9]* connections' "$work/out.txt")
if [ "$head" = "3 threads and 100 connections" ] && [ "$odd" = $((even - 1)) ]; then
  echo "as described: '$head', and one connection less than with two threads ($odd and $even, one of them to look the server up)"
else
  echo "changed: '$head', $odd opened, with two threads $even"; exit 1
fi
