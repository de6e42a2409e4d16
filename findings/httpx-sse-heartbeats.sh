#!/usr/bin/env bash
# httpx-sse 0.4.3: once an event has had an id, each heartbeat (a comment line) is delivered as an event with empty data
#
# The standard dispatches an event if it has data. httpx-sse dispatches one if it has an id, and keeps the last id. So a stream of
# two events and three heartbeats has five events, and none of the heartbeats counts where no event has an id.
source "$(dirname "$0")/common"
python_with httpx-sse==0.4.3 httpx==0.28.1
cat > read.py <<'PY'
import httpx
from httpx_sse import EventSource
def events(*parts):
    body = "".join(f"{part}\n\n" for part in parts)
    response = httpx.Response(200, headers={"content-type": "text/event-stream"}, content=body.encode())
    return [event.data for event in EventSource(response).iter_sse()]
heartbeats = [": still here"] * 3
print("without an id:", events("data: one", "data: two", *heartbeats), "with an id:", events("id: 1\ndata: one", "id: 2\ndata: two", *heartbeats))
PY
compare "without an id: ['one', 'two'] with an id: ['one', 'two', '', '', '']" "$(env/bin/python read.py)"
