"""gRPC by grpcio, in the event loop that it is started in."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import grpc

from quotes.quote import Quote, fits, is_symbol, quote, quotes
from quotes.quotes_pb2 import GetRequest, WatchRequest
from quotes.quotes_pb2_grpc import QuotesServicer, add_QuotesServicer_to_server

DRAIN_S = 5


class Service(QuotesServicer):
    async def Get(self, request: GetRequest, context: grpc.aio.ServicerContext) -> Quote:
        if not is_symbol(request.symbol):
            await context.abort(grpc.StatusCode.NOT_FOUND, "no such symbol")
        return quote(request.symbol, 1)

    async def Watch(self, request: WatchRequest, context: grpc.aio.ServicerContext) -> AsyncIterator[Quote]:
        if not is_symbol(request.symbol):
            await context.abort(grpc.StatusCode.NOT_FOUND, "no such symbol")
        if not fits(request.count, request.interval_ms):
            await context.abort(grpc.StatusCode.INVALID_ARGUMENT, "count is 1 to 1000, interval_ms 0 to 1000")
        async for one in quotes(request.symbol, request.count, request.interval_ms):
            yield one


@asynccontextmanager
async def serving(address: str) -> AsyncIterator[None]:
    """A server at an address, which the workers share by SO_REUSEPORT."""
    server = grpc.aio.server()
    add_QuotesServicer_to_server(Service(), server)
    server.add_insecure_port(address)
    await server.start()
    try:
        yield
    finally:
        await server.stop(DRAIN_S)
