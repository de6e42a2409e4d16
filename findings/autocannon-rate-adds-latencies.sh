#!/usr/bin/env bash
# autocannon 9.0.0: with a rate (`-R`) it reports more latencies than responses, and no word says that it corrects them
#
# One connection, a server of 50 ms, 200 requests per second wanted: about 40 responses in 2 s. The histogram is corrected for
# coordinated omission by adding latencies that were never measured; `totalCount`, mean and percentiles are of those.
source "$(dirname "$0")/common"
needs node
node_with autocannon@9.0.0
echo 'require("http").createServer((q, r) => setTimeout(() => r.end("ok"), 50)).listen(Number(process.argv[2]));' > server.js
port=$(free_port)
start node server.js "$port"
listening "$port"
node_modules/.bin/autocannon -c 1 -d 2 -R 200 --json "http://127.0.0.1:$port/" > out.json 2> /dev/null
seen=$(python3 -c '
import json
out = json.load(open("out.json"))
print("more than twice as many latencies" if out["latency"]["totalCount"] > 2 * out["2xx"] > 0 else f"{out}")')
compare "more than twice as many latencies" "$seen"
