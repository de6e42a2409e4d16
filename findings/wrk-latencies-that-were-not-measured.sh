#!/usr/bin/env bash
# wrk 4.1.0: one connection has a mean latency of more than its time: rate times latency is above 1
#
# wrk corrects for coordinated omission without a rate: a latency of twice the usual one and more is counted again, less the usual
# one, until it is used up. One stall of 500 ms in 200 requests of 1 ms becomes hundreds of latencies. Little's law does not hold.
source "$(dirname "$0")/common"
needs_wrk
ok_server "0.5 if count % 200 == 0 else 0.001"
cat > report.lua <<'LUA'
function done(summary, latency)
  print("in flight " .. summary.requests / summary.duration * latency.mean)
end
LUA
wrk -t 1 -c 1 -d 5s -s report.lua "http://127.0.0.1:$port/" > out.txt
seen=$(awk '/^in flight/ { print ($3 > 2 ? "more than 2 requests in flight on one connection" : $3) }' out.txt)
compare "more than 2 requests in flight on one connection" "$seen"
