#!/usr/bin/env bash
# wrk 4.1.0: one connection has a mean latency of more than its time: rate times latency is above 1
#
# wrk corrects for coordinated omission without a rate: a latency of twice the usual one and more is counted again, less the usual
# one, until it is used up. One stall of 500 ms in 200 requests of 1 ms becomes hundreds of latencies. Little's law does not hold.
source "$(dirname "$0")/common"
needs wrk
{ wrk -v 2>&1 || true; } | grep -q '4\.1\.0' || skip "needs wrk 4.1.0 (Debian)"
cat > server.py <<'PY'
import asyncio, sys
async def serve(reader, writer):
    count = 0
    try:
        while await reader.readuntil(b"\r\n\r\n"):
            count += 1
            await asyncio.sleep(0.5 if count % 200 == 0 else 0.001)
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    writer.close()
async def main():
    await (await asyncio.start_server(serve, "127.0.0.1", int(sys.argv[1]))).serve_forever()
asyncio.run(main())
PY
port=$(free_port)
start python3 server.py "$port"
listening "$port"
cat > report.lua <<'LUA'
function done(summary, latency)
  print("in flight " .. summary.requests / summary.duration * latency.mean)
end
LUA
wrk -t 1 -c 1 -d 5s -s report.lua "http://127.0.0.1:$port/" > out.txt
seen=$(awk '/^in flight/ { print ($3 > 2 ? "more than 2 requests in flight on one connection" : $3) }' out.txt)
compare "more than 2 requests in flight on one connection" "$seen"
