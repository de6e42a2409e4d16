"""A service with one route that calls a downstream, and one that does not. Its argument says how it treats faults.

sound: a timeout, failing connections are thrown away, no retry. waits: no timeout. retries: three attempts. budget:
one request in twenty is tried again. leaks: a call that fails keeps its place in the pool. stale: a connection that
failed is used again. falls: calls block the event loop. starves: both routes share the pool's places. dies: the process
ends when a call fails. slots: at most ten calls at a time, others are
refused.
"""

from __future__ import annotations

import asyncio
import os
import sys
import urllib.error
import urllib.request
from urllib.parse import urlsplit

MODE = sys.argv[1]
PORT = int(os.environ["PORT"])
URL = urlsplit(os.environ["DOWNSTREAM_URL"])
TIMEOUT_S = {"waits": None, "starves": 0.6}.get(MODE, 0.2)
ATTEMPTS = 3 if MODE == "retries" else 1
PLACES = asyncio.Semaphore({"retries": 1000, "starves": 3}.get(MODE, 10))
WAITS_FOR_A_PLACE_S = 1.0 if MODE == "starves" else 0.3

Connection = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class Failed(Exception):
    """The downstream gave no right response."""


class Pool:
    """Kept connections to the downstream, at most ten."""

    def __init__(self) -> None:
        self.free: list[Connection] = []
        self.calls = 0

    async def call(self) -> None:
        self.calls += 1
        attempts = 2 if MODE == "budget" and self.calls % 20 == 0 else ATTEMPTS
        for attempt in range(attempts):
            try:
                return await self.attempt()
            except Failed:
                if MODE == "dies":
                    os._exit(3)
                if attempt == attempts - 1:
                    raise
        return None

    async def attempt(self) -> None:
        if MODE == "slots" and PLACES.locked():
            raise Failed
        try:
            await asyncio.wait_for(PLACES.acquire(), None if MODE == "waits" else WAITS_FOR_A_PLACE_S)
        except TimeoutError as error:
            raise Failed from error
        connection: Connection | None = None
        try:
            async with asyncio.timeout(TIMEOUT_S):
                connection = self.free.pop() if self.free else await asyncio.open_connection(URL.hostname, URL.port)
                status = await ask(*connection)
        except (OSError, TimeoutError, asyncio.IncompleteReadError) as error:
            if connection is not None:
                if MODE == "stale":
                    self.free.append(connection)
                else:
                    connection[1].close()
            if MODE != "leaks":
                PLACES.release()
            raise Failed from error
        PLACES.release()
        self.free.append(connection)
        if status != 200:
            raise Failed


async def ask(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> int:
    writer.write(b"GET /echo HTTP/1.1\r\nHost: downstream\r\n\r\n")
    await writer.drain()
    head = await reader.readuntil(b"\r\n\r\n")
    fields = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:] if line)
    await reader.readexactly(int(fields[b"content-length"]))
    return int(head.split(b" ")[1])


def call_blocking() -> None:
    try:
        with urllib.request.urlopen(f"{URL.geturl()}/echo", timeout=TIMEOUT_S) as response:
            response.read()
    except (OSError, urllib.error.URLError) as error:
        raise Failed from error


async def answer(pool: Pool, path: bytes) -> tuple[int, bytes]:
    if path == b"/ping":
        if MODE == "starves":
            try:
                await asyncio.wait_for(PLACES.acquire(), WAITS_FOR_A_PLACE_S)
            except TimeoutError:
                return 503, b"busy"
            PLACES.release()
        return 200, b"pong"
    try:
        if MODE == "falls":
            call_blocking()
        else:
            await pool.call()
    except Failed:
        return 503, b"away"
    return 200, b"done"


async def serve(pool: Pool, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            status, body = await answer(pool, head.split(b" ")[1])
            writer.write(b"HTTP/1.1 %d X\r\nContent-Length: %d\r\n\r\n%s" % (status, len(body), body))
            await writer.drain()
    except (asyncio.IncompleteReadError, OSError):
        writer.close()


async def main() -> None:
    pool = Pool()
    server = await asyncio.start_server(lambda r, w: serve(pool, r, w), "127.0.0.1", PORT, backlog=1024)
    async with server:
        await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
