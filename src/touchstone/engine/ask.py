"""The engine's session `ask`: requests to services, sent and checked by what loads are sent and checked by.

One engine serves the whole process of touchstone. It is started by the first order, and ends with touchstone.
"""

from __future__ import annotations

import atexit
import base64
import contextlib
import itertools
import json
import re
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from touchstone.engine import protocol
from touchstone.engine.client import EngineError, engine_refusal
from touchstone.engine.job import capture, given_variables, request, stream_of, tls
from touchstone.engine.locate import engine_path
from touchstone.failure import UsageError
from touchstone.isolation.child import start_child
from touchstone.manifest.exchange import LoadRequest, Request
from touchstone.manifest.journey import Capture
from touchstone.manifest.spoken import PLAIN, SpokenProtocol, TlsSettings
from touchstone.manifest.template import Place

_SHOWN = 400
"""Characters of a body that a sentence shows."""
_BYTES_SHOWN = 4096
_ENDS_WITHIN_S = 1.0
_LANES = itertools.count(1)


@dataclass(frozen=True)
class RequestValues:
    """What the templates of one request stand for."""

    counter: int
    fresh: str
    seed: int
    captured: Mapping[str, str] = field(default_factory=dict)

    def fill(self, text: str, place: Place = "body") -> str:
        """The text with its placeholders filled in. Raises EngineError for a value that was not captured."""
        if "{" not in text:
            return text
        texts: list[protocol.Text] = [{"text": given_variables(text, place), "place": place}]
        (filled,) = session().ask({"order": "render", "values": self.in_protocol, "texts": texts})
        return str(filled)

    @property
    def in_protocol(self) -> protocol.Values:
        """The same in the protocol's form."""
        return {"counter": self.counter, "seed": self.seed, "fresh": self.fresh, "captured": dict(self.captured)}


@dataclass(frozen=True)
class Response:
    """A response: status, fields in their order, the body or its beginning; or the reason why none came."""

    status: int | None
    fields: tuple[tuple[str, str], ...] = ()
    body: bytes = b""
    body_bytes: int = 0
    """Bytes of the whole body."""
    failure: str | None = None
    mismatch: bool = False
    """Whether the server was seen to speak something else than it is asked in: no TLS, none in common, or no HTTP/2."""
    faults: tuple[str, ...] = ()
    """All that is wrong with the response, by the request's expectation; a failure is one."""
    captured: Mapping[str, str] = field(default_factory=dict)
    """The values taken from a right response, by name."""
    address: str | None = None
    """Where it came from, as IP:PORT."""
    reused: bool = False
    """Whether the connection had carried a request before."""
    repeated: bool = False
    """Whether the request was sent twice, since a kept connection had been closed meanwhile."""
    took_s: float = 0.0
    """From the beginning of connecting to the end of the response."""

    def field(self, name: str) -> str | None:
        """The value of a field, several joined as RFC 9110 section 5.3 says."""
        values = [value for key, value in self.fields if key.lower() == name.lower()]
        return ", ".join(values) if values else None

    @property
    def media_type(self) -> str:
        """The media type of its body, in lower case and without parameters. Empty if it has none."""
        return (self.field("content-type") or "").partition(";")[0].strip().lower()

    def __str__(self) -> str:
        if self.failure:
            return self.failure
        text = self.body.decode("utf-8", "replace")
        whole = len(text) <= _SHOWN and len(self.body) == self.body_bytes
        shown = text if whole else f"{text[:_SHOWN]}... ({self.body_bytes} bytes)"
        return f"{self.status} {self.field('content-type') or '(no content type)'}: {shown!r}"


@dataclass(frozen=True)
class AskedService:
    """A service that is asked."""

    url: str
    """`http://HOST:PORT`, or with https; or `unix:PATH`, a Unix socket."""
    timeout_s: float = 15.0
    """The whole exchange has so long, whatever the service does meanwhile."""
    spoken: SpokenProtocol = PLAIN
    """The protocol, and how TLS is spoken. Whether TLS is, the URL says."""
    way: Callable[[Mapping[str, Any]], Any] | None = field(default=None, compare=False)
    """Carries out an order to send; the session `ask`, on connections of its own, unless given."""
    grpc_url: str | None = None
    """Where gRPC calls go, if not to `url`."""

    @classmethod
    def at(
        cls,
        host: str,
        port: int,
        timeout_s: float = 15.0,
        spoken: SpokenProtocol = PLAIN,
        grpc_port: int | None = None,
    ) -> AskedService:
        """The service at an address, whose gRPC calls may have a port of their own."""
        origin = f"{spoken.scheme}://[{host}]" if ":" in host else f"{spoken.scheme}://{host}"
        grpc_url = None if grpc_port is None else f"{origin}:{grpc_port}"
        return cls(f"{origin}:{port}", timeout_s, spoken, grpc_url=grpc_url)

    def url_of(self, *wanted: Request) -> str:
        """Where requests of one kind go: gRPC calls, or others."""
        return self.grpc_url if self.grpc_url is not None and wanted[0].grpc is not None else self.url

    def exchange(self, wanted: Request, values: RequestValues, *, whole: bool = False) -> Response:
        """Send a request on a connection of its own. A failure to get an answer is an answer, too.

        With `whole` the answer has all of its body, and else its beginning.
        """
        return self.exchanges(wanted, values, whole=whole)[0]

    def exchanges(
        self,
        wanted: Request,
        first: RequestValues,
        *,
        repeat: int = 1,
        concurrent: int = 1,
        within_s: float = 0.0,
        captures: Mapping[str, Capture] | None = None,
        lane: int | None = None,
        cookies: bool = False,
        whole: bool = False,
    ) -> list[Response]:
        """Send a request `repeat` times, `concurrent` at a time. Each is repeated for `within_s` until it succeeds.

        `first` are the values of the first; each further one has the next counter. Requests of a `lane` share a
        connection, and with `cookies` those that its responses set. Raises EngineError for a request that does not
        hold together.
        """
        order = {
            "order": "send",
            "url": self.url_of(wanted),
            "protocol": self.spoken.protocol,
            "tls": tls(self.spoken),
            "asked": _asked(wanted, captures or {}),
            "values": first.in_protocol,
            "repeat": repeat,
            "concurrent": concurrent,
            "within_s": within_s,
            "timeout_s": self.timeout_s,
            "lane": lane,
            "cookies": cookies,
            "body_bytes": None if whole else _BYTES_SHOWN,
        }
        ask = self.way or session().ask
        return [_answer(one) for one in ask(order)]

    def address(self) -> str:
        """The first of its host's addresses that takes a connection: all is sent there. Raises EngineError."""
        return str(session().ask({"order": "locate", "url": self.url}))

    def addresses(self) -> list[str]:
        """All addresses of its host, as IP:PORT. Raises EngineError if it has none."""
        return [str(one) for one in session().ask({"order": "resolve", "url": self.url})]

    def speaks_http2(self) -> bool:
        """Whether it begins an HTTP/2 connection without TLS; false where it cannot be asked."""
        return bool(session().ask({"order": "speaks_http2", "url": self.url}))


@dataclass(frozen=True)
class Url:
    """A URL, taken apart as the engine takes it."""

    tls: bool
    host: str
    port: int
    origin: str
    """Scheme, host and port as given."""
    target: str
    """Path and query as they are sent."""
    socket: str | None
    """The path of a Unix socket; None for a host and a port."""


def pasted_url(text: str) -> Url:
    """A URL as somebody pasted it, taken apart as for a load. Raises UsageError if it is none."""
    try:
        return Url(**session().ask({"order": "url", "url": text}))
    except EngineError as error:
        bare = "://" not in text and re.match(r"[\w\[]", text)
        example = f"http://{text}" if bare else "it like http://127.0.0.1:8080/health"
        raise UsageError(error.what, fix=f"write {example}") from error


@dataclass(frozen=True)
class GrpcMethod:
    """A gRPC method of a schema."""

    name: str
    """`package.Service/Method`."""
    takes_stream: bool
    is_streaming: bool
    example: str
    """A message of the request in JSON, with a value in each field."""
    fields: Mapping[str, str]
    """The fields that each message of the response has, with their types in JSON."""


def grpc_methods(proto: Path) -> list[GrpcMethod]:
    """The methods of a `.proto` file or a descriptor set. Raises UsageError for a file that is neither."""
    try:
        return [GrpcMethod(**one) for one in session().ask({"order": "methods", "proto": str(proto)})]
    except EngineError as error:
        raise UsageError(error.what, fix="name a .proto file that protoc accepts, or a descriptor set") from error


def refused(requests: Sequence[tuple[Request, Mapping[str, Capture]]]) -> dict[int, str]:
    """Which requests, with their captures, the engine does not take, by their place, and why. Nothing is sent.

    A reason begins with the part that is wrong and a colon, such as `expect.body: `.
    """
    reply = session().ask({"order": "compile", "requests": [_asked(wanted, captures) for wanted, captures in requests]})
    return {place: str(why) for place, why in enumerate(reply) if why is not None}


def unusable_tls(settings: Sequence[TlsSettings]) -> list[str | None]:
    """Why each of these settings cannot be used, or None: a file that is not there, a key of another certificate."""
    return list(session().ask({"order": "tls", "settings": [one.given for one in settings]}))


def _asked(wanted: Request, captures: Mapping[str, Capture]) -> protocol.Asked:
    stream = wanted.stream if isinstance(wanted, LoadRequest) else None
    return {
        "request": request(wanted),
        "stream": None if stream is None else stream_of(stream),
        "captures": {name: capture(one) for name, one in captures.items()},
    }


@contextlib.contextmanager
def lane() -> Iterator[int]:
    """A lane, whose connection is closed with the block."""
    number = next(_LANES)
    try:
        yield number
    finally:
        session().ask({"order": "release", "lane": number})


class Session:
    """An engine that takes orders from all threads of touchstone."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._numbers = itertools.count(1)
        self._waiting: dict[int, Future[Any]] = {}
        self._engine: subprocess.Popen[str] | None = None

    def ask(self, order: Mapping[str, Any]) -> Any:
        """What came of an order. Raises EngineError if it was not carried out."""
        future: Future[Any] = Future()
        with self._lock:
            if self._engine is None:
                self._engine = self._start()
            number = next(self._numbers)
            self._waiting[number] = future
            assert self._engine.stdin is not None  # it was asked for as a pipe
            try:
                self._engine.stdin.write(json.dumps({"id": number, **order}) + "\n")
                self._engine.stdin.flush()
            except OSError as error:
                self._engine = None
                raise EngineError("the engine has ended", fix="run `touchstone doctor`") from error
        kind, outcome = future.result()
        if kind == "error":
            raise engine_refusal(str(outcome))
        return outcome

    def close(self) -> None:
        """End the engine, if it was started."""
        with self._lock:
            engine, self._engine = self._engine, None
        if engine is None:
            return
        assert engine.stdin is not None  # it was asked for as a pipe
        with contextlib.suppress(OSError):
            engine.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            engine.wait(_ENDS_WITHIN_S)
        if engine.poll() is None:
            engine.kill()
            engine.wait()

    def _start(self) -> subprocess.Popen[str]:
        engine = start_child(
            [engine_path(), "ask"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        threading.Thread(target=self._read, args=(engine,), daemon=True).start()
        return engine

    def _read(self, engine: subprocess.Popen[str]) -> None:
        assert engine.stdout is not None  # it was asked for as a pipe
        for line in engine.stdout:
            answer = json.loads(line)
            future = self._waiting.pop(answer.pop("id"), None)
            if future is not None:
                future.set_result(next(iter(answer.items())))
        with self._lock:
            waiting, self._waiting = self._waiting, {}
            if self._engine is engine:
                self._engine = None
        for future in waiting.values():
            future.set_result(("error", "the engine ended before it had answered"))


@cache
def session() -> Session:
    """The session of this process."""
    opened = Session()
    atexit.register(opened.close)
    return opened


def _answer(in_protocol: protocol.Exchange) -> Response:
    return Response(
        status=in_protocol["status"],
        fields=tuple((name, value) for name, value in in_protocol["fields"]),
        body=base64.b64decode(in_protocol["body"]),
        body_bytes=in_protocol["body_bytes"],
        failure=in_protocol["failure"],
        mismatch=in_protocol["mismatch"],
        faults=tuple(in_protocol["faults"]),
        captured=in_protocol["captured"],
        address=in_protocol["address"],
        reused=in_protocol["reused"],
        repeated=in_protocol["repeated"],
        took_s=in_protocol["took_s"],
    )
