#!/usr/bin/env bash
# hypercorn 0.18.0: a kept-alive connection ends after 1,000 responses, by default and without a word in the log
#
# keep_alive_max_requests is 1000. Response 1,000 carries `connection: close`; a load generator that keeps its connections sees
# a close every 1,000 requests, and counts it as the server's failure unless it tells an announced close from a broken one.
source "$(dirname "$0")/common"
python_with hypercorn==0.18.0
asgi_app
port=$(free_port)
start env/bin/hypercorn --bind "127.0.0.1:$port" app:app
listening "$port"
closed=$(python3 - "$port" <<'PY'
import http.client, sys
connection = http.client.HTTPConnection("127.0.0.1", int(sys.argv[1]), timeout=10)
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
)
compare "response 1000 says connection: close" "response $closed says connection: close"
