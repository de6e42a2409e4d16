"""The one resource, by RSGI, granian's own interface."""

from granian.rsgi import HTTPProtocol, Scope

TEXT = [("content-type", "text/plain")]
ALLOWED = [("allow", "GET, HEAD")]


async def app(scope: Scope, protocol: HTTPProtocol) -> None:
    if scope.path != "/hello":
        protocol.response_empty(404, [])
    elif scope.method not in ("GET", "HEAD"):
        protocol.response_empty(405, ALLOWED)
    else:
        # granian sends no body in answer to HEAD.
        protocol.response_str(200, TEXT, "Hello, world!")
