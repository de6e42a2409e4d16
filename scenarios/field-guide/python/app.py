"""The two resources, by ASGI."""

import asyncio


async def app(scope, _receive, send):
    """Answer each request with the same body."""
    if scope["type"] != "http":
        raise NotImplementedError(scope["type"])
    status = {"/hello": 200, "/slow": 200}.get(scope["path"], 404)
    if scope["path"] == "/slow":
        await asyncio.sleep(1)
    head = [(b"content-type", b"text/plain"), (b"content-length", b"13")]
    await send({"type": "http.response.start", "status": status, "headers": head})
    await send({"type": "http.response.body", "body": b"Hello, world!"})
