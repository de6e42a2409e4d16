#!/usr/bin/env bash
# httpx 0.28.1: fifty tasks that share a client open hundreds of connections for 1,000 requests, where aiohttp 3.14.5 opens 50
#
# The pool may open a hundred connections, and keeps twenty idle ones. A connection that falls idle while twenty others are idle is closed,
# although a task needs it at once. A load script written with httpx measures handshakes as well.
source "$(dirname "$0")/common"
python_with httpx==0.28.1 aiohttp==3.14.5
ok_server 0.01
cat > load.py <<'PY'
import asyncio, sys
import aiohttp, httpx
url = sys.argv[2]
async def through_httpx(client):
    (await client.get(url)).raise_for_status()
async def through_aiohttp(client):
    async with client.get(url) as response:
        await response.read()
async def main():
    get, open_client = (through_httpx, httpx.AsyncClient) if sys.argv[1] == "httpx" else (through_aiohttp, aiohttp.ClientSession)
    async with open_client() as client:
        async def task():
            for _ in range(20):
                await get(client)
        await asyncio.gather(*(task() for _ in range(50)))
asyncio.run(main())
PY
opened() { opened_by env/bin/python load.py "$1" "http://127.0.0.1:$port/"; }
httpx=$(opened httpx)
aiohttp=$(opened aiohttp)
[ "$httpx" -le 100 ] || httpx="more than 100"
compare "httpx more than 100, aiohttp 50" "httpx $httpx, aiohttp $aiohttp"
