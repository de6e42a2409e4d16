"""JSON and server-sent events by Starlette. Its lifespan has the gRPC server, so that each worker serves both."""

import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from quotes.quote import Quote, fits, is_symbol, quote, quotes
from quotes.rpc import serving


def in_json(one: Quote) -> str:
    shown = {"symbol": one.symbol, "number": one.number, "bid": one.bid, "ask": one.ask, "stamp": one.stamp}
    return json.dumps(shown, separators=(",", ":"))


async def answer(request: Request) -> Response:
    symbol = request.path_params["symbol"]
    if not is_symbol(symbol):
        return Response(status_code=404)
    return Response(in_json(quote(symbol, 1)), media_type="application/json")


async def events(request: Request) -> Response:
    symbol, asked = request.path_params["symbol"], request.query_params
    if not is_symbol(symbol):
        return Response(status_code=404)
    texts = asked.get("count", "1"), asked.get("interval_ms", "0")
    if not all(text.isdecimal() and text.isascii() and len(text) <= 6 for text in texts) or not fits(*map(int, texts)):
        return Response(status_code=400)
    stream = (f"id: {one.number}\ndata: {in_json(one)}\n\n" async for one in quotes(symbol, *map(int, texts)))
    return StreamingResponse(stream, media_type="text/event-stream", headers={"cache-control": "no-store"})


@asynccontextmanager
async def lifespan(_: Starlette) -> AsyncIterator[None]:
    async with serving(f"{os.environ.get('HOST') or '127.0.0.1'}:{os.environ.get('GRPC_PORT') or 50051}"):
        yield


app = Starlette(
    routes=[Route("/quotes/{symbol}", answer), Route("/quotes/{symbol}/events", events)],
    lifespan=lifespan,
)
