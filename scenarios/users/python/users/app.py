"""The HTTP side: three resources over the store."""

import logging
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated, TypedDict

import anyio.to_thread
from fastapi import Depends, FastAPI, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import PlainTextResponse
from starlette.exceptions import HTTPException

from users.config import Config
from users.store import NameTakenError, Store

log = logging.getLogger(__name__)

READ = ["GET", "HEAD"]


class State(TypedDict):
    store: Store


async def store_of(request: Request) -> Store:
    return request.state.store


Name = Annotated[str, Query(min_length=1)]
Users = Annotated[Store, Depends(store_of)]


def create() -> FastAPI:
    """The application of one worker process."""
    app = FastAPI(lifespan=lifespan, default_response_class=PlainTextResponse, openapi_url=None)
    app.add_exception_handler(RequestValidationError, name_missing)
    app.add_exception_handler(HTTPException, refused)
    app.add_exception_handler(sqlite3.Error, broken)
    app.add_api_route("/ping", ping, methods=READ)
    app.add_api_route("/add", register, methods=READ)
    app.add_api_route("/", find, methods=READ)
    return app


@asynccontextmanager
async def lifespan(_app: FastAPI) -> AsyncIterator[State]:
    config = Config.from_env()
    # Queries block their thread: a thread for each connection, and requests wait in one queue.
    anyio.to_thread.current_default_thread_limiter().total_tokens = config.worker_pool
    store = Store(config.database, config.worker_pool, config.busy_timeout_s)
    yield {"store": store}
    store.close()


async def ping() -> str:
    return "pong"


def register(name: Name, users: Users) -> PlainTextResponse:
    try:
        users.add(name)
    except (NameTakenError, sqlite3.Error) as error:
        if not isinstance(error, NameTakenError):
            log.exception("insert failed")
        return PlainTextResponse(f"Sadly we failed to register you: {name}", 500)
    return PlainTextResponse(f"Welcome to our community {name}!")


def find(name: Name, users: Users) -> PlainTextResponse:
    found = users.find(name)
    if found is None:
        return PlainTextResponse(f"Sadly we could not find you: {name}", 404)
    return PlainTextResponse(f"Boom! We found you: {found}")


async def name_missing(_request: Request, _error: Exception) -> PlainTextResponse:
    return PlainTextResponse("name is required", 400)


async def refused(_request: Request, error: HTTPException) -> PlainTextResponse:
    if error.status_code == 405:
        return PlainTextResponse("method not allowed", 405, headers={"allow": "GET, HEAD"})
    return PlainTextResponse(error.detail.lower(), error.status_code)


async def broken(_request: Request, error: Exception) -> PlainTextResponse:
    log.error("query failed", exc_info=error)
    return PlainTextResponse("internal error", 500)
