"""`sse_httpx.py URL STREAMS SECONDS`: read streams of server-sent events with httpx, and print how many events came."""

from __future__ import annotations

import asyncio
import sys
import time

import httpx


async def consume(client: httpx.AsyncClient, url: str, end: float) -> int:
    """Read one stream after the other until the end; the number of their events."""
    came = 0
    while time.monotonic() < end:
        async with client.stream("GET", url) as response:
            async for line in response.aiter_lines():
                came += line.startswith("data:")
    return came


async def main(url: str, streams: int, seconds: float) -> None:
    """Print the number of events of all streams."""
    end = time.monotonic() + seconds
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=None)
    async with httpx.AsyncClient(limits=limits, timeout=30.0) as client:
        came = await asyncio.gather(*(consume(client, url, end) for _ in range(streams)))
    print("events", sum(came))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2]), float(sys.argv[3])))
