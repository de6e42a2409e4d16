"""The HTTP side: /api through the store, /echo past it."""

import asyncio
import json
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TypedDict

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from crud.config import Config
from crud.store import Store, is_away
from crud.user import InvalidUserError, User

log = logging.getLogger(__name__)

MAX_BODY = 64 * 1024

ERRORS = {
    400: "expected a JSON object with name and email (strings without NUL) and age (an integer from 0 to 150), "
    "and nothing else",
    404: "not found",
    405: "method not allowed",
    408: "the request took too long",
    413: "the body is over 64 KB",
    415: "the content type must be application/json",
    500: "internal error",
    503: "the database is unavailable",
}


class State(TypedDict):
    store: Store
    read_timeout_s: float


def create() -> Starlette:
    """The application of one worker process."""
    app = Starlette(
        routes=[
            Route("/api", api, methods=["POST"]),
            Route("/echo", echo, methods=["POST"]),
            Route("/ping", ping, methods=["GET"]),
        ],
        exception_handlers={HTTPException: refused},
        lifespan=lifespan,
    )
    app.router.redirect_slashes = False
    return app


@asynccontextmanager
async def lifespan(_app: Starlette) -> AsyncIterator[State]:
    config = Config.from_env()
    store = await Store.open(config.database_url, config.worker_pool, config.database_timeout_s)
    yield {"store": store, "read_timeout_s": config.read_timeout_s}
    await store.close()


async def api(request: Request) -> Response:
    user = await user_in(request)
    store: Store = request.state.store
    try:
        number, row = await store.pass_through(user)
    except Exception as error:
        if is_away(error):
            raise HTTPException(503) from error
        log.exception("statement failed")
        raise HTTPException(500) from error
    return answer(200, row.to_json(number))


async def echo(request: Request) -> Response:
    user = await user_in(request)
    return answer(200, user.to_json(0))


async def ping(_request: Request) -> Response:
    return PlainTextResponse("pong")


async def user_in(request: Request) -> User:
    """The user in the body, or the refusal of the request."""
    media_type = request.headers.get("content-type", "").partition(";")[0]
    if media_type.strip().lower() != "application/json":
        raise HTTPException(415)
    try:
        async with asyncio.timeout(request.state.read_timeout_s):
            return User.from_json(await body_of(request))
    except TimeoutError as error:
        raise HTTPException(408) from error
    except InvalidUserError as error:
        raise HTTPException(400) from error


async def body_of(request: Request) -> bytes:
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > MAX_BODY:
            raise HTTPException(413)
    return bytes(body)


async def refused(request: Request, error: HTTPException) -> Response:
    response = answer(error.status_code, json.dumps({"error": ERRORS[error.status_code]}, separators=(",", ":")))
    if error.status_code == 405:
        response.headers["allow"] = "GET, HEAD" if request.url.path == "/ping" else "POST"
    return response


def answer(status: int, body: str | bytes) -> Response:
    return Response(body, status, media_type="application/json")
