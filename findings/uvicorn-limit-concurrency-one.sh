#!/usr/bin/env bash
# uvicorn 0.54.0: `--limit-concurrency 1` answers every request with 503, the first and only one too
#
# Open connections count, and the connection of the request itself is one of them: N serves N - 1 at a time. A client that
# keeps an idle connection takes a place as well.
source "$(dirname "$0")/common"
python_with uvicorn==0.54.0
asgi_app
statuses() { # of three requests one after the other, under this limit
  port=$(free_port)
  start env/bin/uvicorn --port "$port" --limit-concurrency "$1" app:app
  python3 - "$port" <<'PY'
import http.client, sys, time
found = []
end = time.monotonic() + 60
while len(found) < 3 and time.monotonic() < end:
    try:
        connection = http.client.HTTPConnection("127.0.0.1", int(sys.argv[1]), timeout=5)
        connection.request("GET", "/")
        found.append(str(connection.getresponse().status))
    except OSError:
        pass
    connection.close()
    time.sleep(0.1)
print(*found)
PY
}
compare "limit 1: 503 503 503, limit 2: 200 200 200" "limit 1: $(statuses 1), limit 2: $(statuses 2)"
