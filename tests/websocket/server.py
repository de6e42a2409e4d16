"""A WebSocket server of the library `websockets` on PORT or any, whose path names what is wrong with its echoes. Behind
`all-` all of them are wrong. Run as a program.
"""

from __future__ import annotations

import asyncio
import http
import os
import sys

from websockets.asyncio.server import ServerConnection, serve
from websockets.http11 import Request, Response

FAULTY = 10
"""One of this number of messages has the fault."""


async def answer(socket: ServerConnection) -> None:
    """Echo each message, with the fault that the path names."""
    path = socket.request.path.strip("/") if socket.request else ""
    fault = path.removeprefix("all-")
    if fault == "greet":
        await socket.send("welcome")
    held = None
    number = 0
    async for message in socket:
        number += 1
        if fault == path and number % FAULTY:
            await socket.send(message)
            if held is not None:
                await socket.send(held)
                held = None
        elif fault == "wrong":
            await socket.send("other")
        elif fault == "doubled":
            await socket.send(message)
            await socket.send(message)
        elif fault == "disordered":
            held = message
        elif fault == "close":
            await socket.close(4001, "enough")
        elif fault == "leave":
            socket.transport.abort()
        elif fault != "lost":
            # A fragmented message, with a ping inside.
            await socket.ping()
            await socket.send([message[:2], message[2:]])


def refuse(socket: ServerConnection, request: Request) -> Response | None:
    """Open no WebSocket on one path."""
    return socket.respond(http.HTTPStatus.FORBIDDEN, "no\n") if request.path == "/refused" else None


async def main() -> None:
    """Serve, and print the port."""
    place = int(os.environ.get("PORT", "0"))
    async with serve(answer, "127.0.0.1", place, process_request=refuse) as server:
        print(next(iter(server.sockets)).getsockname()[1], flush=True)
        await asyncio.get_running_loop().create_future()


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
