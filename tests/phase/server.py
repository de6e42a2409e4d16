"""A small HTTP server in Python: each test sets its answers."""

from __future__ import annotations

_SERVER = """
import asyncio, os, signal, time

{answer}

async def serve(reader, writer):
    try:
        while True:
            head = await reader.readuntil(b"\\r\\n\\r\\n")
            method, target, _ = head.split(b" ", 2)
            status, body = answer(method, target)
            writer.write(b"HTTP/1.1 %b\\r\\nContent-Type: text/plain\\r\\n" % status)
            writer.write(b"Content-Length: %d\\r\\n\\r\\n%b" % (len(body), body))
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()


async def main():
    server = await asyncio.start_server(serve, os.environ["HOST"], int(os.environ["PORT"]))
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    await stop.wait()


asyncio.run(main())
"""


def server(answer: str) -> str:
    """The program of a server around `answer(method, target)`, which gives status line and body as bytes."""
    return _SERVER.format(answer=answer)
