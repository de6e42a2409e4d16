#!/usr/bin/env bash
# sse-starlette 3.7.0: an event whose `id` is a number ends the response behind its head; over HTTP/2 the stream never ends
#
# The exception comes once 200 and the head are sent. Over HTTP/1.1 uvicorn closes the connection inside the response. Over
# HTTP/2 hypercorn neither ends nor resets the stream, and a client waits for its own timeout. A text as `id` is sent.
source "$(dirname "$0")/common"
python_with sse-starlette==3.7.0 starlette==1.10.0 uvicorn==0.54.0 hypercorn==0.18.0 'httpx[http2]==0.28.1'
cat > app.py <<'PY'
import os
from sse_starlette.sse import EventSourceResponse
from starlette.applications import Starlette
from starlette.routing import Route
async def events(request):
    number = request.query_params["id"]
    async def stream():
        yield {"id": number if "text" in request.query_params else int(number), "data": "x"}
    return EventSourceResponse(stream())
app = Starlette(routes=[Route("/", events)])
PY
cat > ask.py <<'PY'
import httpx, sys
port, http2, query = sys.argv[1], sys.argv[2] == "h2", sys.argv[3]
with httpx.Client(http1=not http2, http2=http2, timeout=3) as client:
    try:
        with client.stream("GET", f"http://127.0.0.1:{port}/?{query}") as response:
            status, body = response.status_code, response.read()
            print(f"{status} with {len(body)} bytes")
    except httpx.ReadTimeout:
        print("200 without an end in 3 s")
    except httpx.RemoteProtocolError:
        print("200, cut")
PY
one=$(free_port)
start env/bin/uvicorn --port "$one" app:app
listening "$one"
two=$(free_port)
start env/bin/hypercorn --bind "127.0.0.1:$two" app:app
listening "$two"
ask() { env/bin/python ask.py "$@"; }
compare "text: 200 with 18 bytes; number over HTTP/1.1: 200, cut; number over HTTP/2: 200 without an end in 3 s" \
  "text: $(ask "$one" h1 'id=1&text'); number over HTTP/1.1: $(ask "$one" h1 id=1); number over HTTP/2: $(ask "$two" h2 id=1)"
