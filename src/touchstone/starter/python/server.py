"""A service to begin from. HOST and PORT come from the environment; uvicorn ends on SIGTERM."""

import os

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route


async def ping(request: Request) -> PlainTextResponse:
    return PlainTextResponse("pong")


async def not_found(request: Request, error: Exception) -> PlainTextResponse:
    return PlainTextResponse("not found", status_code=404)


app = Starlette(routes=[Route("/ping", ping)], exception_handlers={404: not_found})

if __name__ == "__main__":
    host, port = os.environ["HOST"], int(os.environ["PORT"])
    uvicorn.run(app, host=host, port=port, access_log=False, timeout_graceful_shutdown=5)
