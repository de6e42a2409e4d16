"""Entries of HttpArena: `meta.json`, a Dockerfile, and the profiles that the entry takes part in.

Source: the documentation of its profiles and of `meta.json`, and the definitions of its profiles, in its repository.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from touchstone.failure import UsageError
from touchstone.intake.draft import DraftLoad, DraftRequest, PlaceholderText, slug
from touchstone.intake.entry import (
    BROKEN,
    DESCRIPTIONS,
    BenchmarkEntry,
    EntryTest,
    EntryVariant,
    SkippedItem,
    read_description,
)

_PORT = 8080
"""Every entry listens there for HTTP/1.1 without TLS, on the host's network."""
_H2C_PORT = 8082
"""Entries with profiles of h2c listen there for nothing else."""
_DATA = "it needs files that the benchmark mounts below /data"
_DATABASE = "it needs the benchmark's own PostgreSQL with its tables"
_H2_PORT = 8443
"""HTTP/2 over TLS."""
_SERVICE = "benchmark.BenchmarkService"
_NO_PROTO = f"it is gRPC, and no .proto file of the entry has {_SERVICE}"
_CERTIFICATE = "TLS_CERT"
"""The environment variable by which entries take another certificate than the one below /certs, as touchstone gives
it."""
_TLS = f"it is sent over TLS, and the entry takes its certificate from /certs alone, not from {_CERTIFICATE}"
_LARGEST_SOURCE = 1_000_000
_SEVERAL = "it is several containers next to each other"

_LEFT_OUT = (
    ("gateway-*", _SEVERAL),
    ("production-stack", _SEVERAL),
    ("*-h3", "it is HTTP/3, and a load is HTTP/1.1 or HTTP/2"),
    ("json*", _DATA),
    ("static*", _DATA),
    ("*-h2", _TLS),
    ("*-tls", _TLS),
    ("*bit", _TLS),
    ("echo-ws-*", "it is WebSocket, in a form that touchstone does not know"),
    ("echo-*", _TLS),
    ("async-db", _DATABASE),
    ("crud", _DATABASE),
    ("fortunes", _DATABASE),
    ("api-*", _DATABASE),
)
"""Profiles by pattern, the first that fits, and why touchstone does not express them."""
_LARGE = SkippedItem("the body of 20 MiB of the profile upload", "a placeholder has 16 MiB at most")
_CHUNKED = SkippedItem("the third request of the profile baseline", "its body is chunked, and a load's has a length")


def _get(name: str, target: str, answer: str, says: str) -> DraftRequest:
    return DraftRequest(name, "GET", target, says, content_type="text/plain", answer=answer)


def _sum(a: int, b: int) -> DraftRequest:
    return _get("sum", f"/baseline11?a={a}&b={b}", str(a + b), f"the sum of {a} and {b} in the query is answered")


def _sum_with_body(body: int) -> DraftRequest:
    return DraftRequest(
        "sum-with-body",
        "POST",
        "/baseline11?a=13&b=42",
        f"the sum of 13, 42 and {body} in the body is answered",
        headers={"content-type": "text/plain"},
        body=str(body),
        content_type="text/plain",
        answer=str(55 + body),
    )


def _upload(size: int) -> DraftRequest:
    return DraftRequest(
        f"upload-{size}",
        "POST",
        "/upload",
        f"the number of octets of a body of {size:,} is answered",
        headers={"content-type": "application/octet-stream"},
        body=PlaceholderText(f"{{x*{size}}}"),
        content_type="text/plain",
        answer=str(size),
    )


def _sum_over_http_2(a: int, b: int) -> DraftRequest:
    return _get("sum", f"/baseline2?a={a}&b={b}", str(a + b), f"the sum of {a} and {b} in the query is answered")


def _paced(name: str, rate: int, profiles: Sequence[str]) -> EntryTest:
    title = f"{rate:,} requests per second on 1,024 connections"
    settings = {"loop": "open", "rate": rate, "connections": 1024, "profiles": list(profiles)}
    return EntryTest(name, [_sum(1, 2)], DraftLoad(name, title, [_sum(1, 2)], settings=settings))


_PLAIN_GET = DraftRequest(
    "no-upgrade",
    "GET",
    "/ws",
    "a GET that asks for no WebSocket is answered",
    status=400,
    other_statuses=[200, 404, 405, 426, 500, 501],
    guessed="frameworks differ in this answer",
)
_ECHO = DraftRequest("echo", "GET", "/ws", "", body="hello", keys={"websocket": {"kind": "echo"}})
_UPLOADS = [_upload(512_000), _upload(2_097_152), _upload(10_485_760)]
_PIPELINE = _get("pipeline", "/pipeline", "ok", "GET /pipeline answers ok")
_DELAY = _get("delay", "/delay/15", "15", "GET /delay/15 answers 15, after 15 ms")

# Not the largest numbers of connections of a profile: the benchmark's machine has 128 threads.
_TESTS = {
    test.name: test
    for test in (
        EntryTest(
            "baseline",
            # Two of a kind, as the benchmark has them: what is answered from memory is found out.
            [_sum(13, 42), _sum(271, 828), _sum_with_body(20), _sum_with_body(907)],
            DraftLoad(
                "baseline",
                "Sums of a query and a body on 512 connections",
                [_sum(13, 42), _sum_with_body(20)],
                settings={"connections": 512},
            ),
        ),
        EntryTest(
            "limited-conn",
            [_sum(13, 42), _sum_with_body(20)],
            DraftLoad(
                "limited-conn",
                "Sums of a query and a body on 512 connections, each for ten requests",
                [_sum(13, 42), _sum_with_body(20)],
                settings={"connections": 512, "requests_per_connection": 10},
            ),
        ),
        EntryTest(
            "pipelined",
            [_PIPELINE],
            DraftLoad(
                "pipelined",
                "512 connections, 16 requests in flight on each",
                [_PIPELINE],
                settings={"connections": 512, "pipeline": 16},
            ),
        ),
        EntryTest(
            "upload",
            [_upload(17), *_UPLOADS],
            DraftLoad(
                "upload",
                "Bodies of 500 KiB, 2 MiB and 10 MiB on 32 connections",
                _UPLOADS,
                settings={"connections": 32},
            ),
        ),
        EntryTest(
            "echo-ws",
            [_PLAIN_GET],
            DraftLoad("echo-ws", "Echoes over 512 WebSockets", [_ECHO], settings={"connections": 512}),
        ),
        _paced("latency-10k", 10_000, ("quick", "normal", "thorough")),
        # No machine but a large one comes near it.
        _paced("latency-1m", 1_000_000, ("thorough",)),
        EntryTest(
            "async",
            [_DELAY],
            DraftLoad(
                "async",
                "15 ms of waiting on 32,000 connections",
                [_DELAY],
                settings={"connections": 32_000, "profiles": ["normal", "thorough"]},
            ),
        ),
    )
}


def _over_h2(name: str, protocol: str) -> EntryTest:
    # Two requests with numbers of their own: an answer from memory is found out.
    return EntryTest(
        name,
        [_sum_over_http_2(13, 42), _sum_over_http_2(271, 828)],
        DraftLoad(
            name,
            "Sums of a query over HTTP/2 on 256 connections of 100 streams",
            [_sum_over_http_2(1, 1)],
            settings={"connections": 256, "streams": 100, "protocol": protocol},
        ),
    )


def _call(name: str, method: str, proto: str, message: Mapping[str, int], result: int, **keys: Any) -> DraftRequest:
    return DraftRequest(
        name,
        "POST",
        f"/{_SERVICE}/{method}",
        f"{method} of {json.dumps(message)} answers {result}",
        body=json.dumps(message),
        json_values={} if keys else {"result": result},
        keys={"grpc": f"{_SERVICE}/{method}", "proto": proto, **keys},
    )


def _grpc_tests(proto: str, protocol: str) -> dict[str, EntryTest]:
    """The profiles of gRPC by name, over h2c or h2."""
    suffix = "-tls" if protocol == "h2" else ""

    def total(a: int, b: int) -> DraftRequest:
        return _call("sum", "GetSum", proto, {"a": a, "b": b}, a + b)

    def streamed(count: int) -> DraftRequest:
        stream = {"kind": "messages", "events": count, "expect": {"json": {"result": 3}}}
        return _call("sums", "StreamSum", proto, {"a": 1, "b": 2, "count": count}, 3, stream=stream)

    unary, streams = f"unary-grpc{suffix}", f"stream-grpc{suffix}"
    title = "A unary call on 256 connections of 100 streams"
    settings = {"connections": 256, "streams": 100, "protocol": protocol}
    title_of_streams = "Calls that stream 5,000 messages each on 64 connections of 4 streams"
    settings_of_streams = {"connections": 64, "streams": 4, "protocol": protocol}
    return {
        unary: EntryTest(
            unary, [total(13, 42), total(271, 828)], DraftLoad(unary, title, [total(17, 2)], settings=settings)
        ),
        streams: EntryTest(
            streams, [streamed(7)], DraftLoad(streams, title_of_streams, [streamed(5000)], settings=settings_of_streams)
        ),
    }


def read_http_arena(folder: Path) -> BenchmarkEntry:
    """Read an entry. Raises UsageError that names the missing part."""
    described = read_description(folder, "httparena")
    tests = described.get("tests")
    if not isinstance(tests, list) or not all(isinstance(test, str) for test in tests):
        where = str(folder / DESCRIPTIONS["httparena"])
        raise UsageError("`tests` is not a list of profiles", where=where, fix=BROKEN)
    if not (folder / "Dockerfile").is_file():
        by_script = (folder / "build.sh").is_file()
        raise UsageError(
            "there is no Dockerfile" + (": build.sh builds its image, and touchstone runs no scripts" * by_script),
            where=str(folder),
            fix="build the image by hand, and name it as `image` in a stack.toml with `port = 8080`",
        )
    name = slug(folder.resolve().name)
    title = str(described.get("display_name") or name)
    taken = {test: _TESTS[test] for test in _TESTS if test in tests}
    variants = [EntryVariant("image", _variant_title(title, described), "Dockerfile", _PORT, taken)]
    schema, tls = _schema(folder, name), any(_CERTIFICATE in _source(one) for one in folder.rglob("*"))
    for suffix, words, port, known in _over_http_2(schema, tls=tls):
        own = {test: known[test] for test in known if test in tests}
        if own:
            whole = f"{_variant_title(title, described)}, {words}"
            variants.append(EntryVariant(f"image-{suffix}", whole, "Dockerfile", port, own))
    others = [test for test in tests if not any(test in one.tests for one in variants)]
    unlike = [*([_CHUNKED] if "baseline" in taken else []), *([_LARGE] if "upload" in taken else [])]
    return BenchmarkEntry(
        benchmark="HttpArena",
        folder=folder,
        name=name,
        title=title,
        language=str(described.get("language") or "unknown"),
        summary=str(described.get("description") or ""),
        variants=variants,
        left_out=[*_left_out(others, has_schema=schema is not None), *unlike],
        known=[*_TESTS, *(test for _, _, _, known in _over_http_2("", tls=True) for test in known)],
    )


_Known = tuple[str, str, int, dict[str, EntryTest]]
"""The end of a variant's name, words for its title, its port, and the profiles that are asked there."""


def _over_http_2(proto: str | None, *, tls: bool) -> list[_Known]:
    """What may be asked over HTTP/2: gRPC where there is a schema, TLS if an entry takes touchstone's certificate."""
    found: list[_Known] = [("h2c", "h2c", _H2C_PORT, {"baseline-h2c": _over_h2("baseline-h2c", "h2c")})]
    if proto is not None:
        found.append(("grpc", "gRPC", _PORT, _grpc_tests(proto, "h2c")))
    if tls:
        calls = {} if proto is None else _grpc_tests(proto, "h2")
        found.append(("h2", "HTTP/2 over TLS", _H2_PORT, {"baseline-h2": _over_h2("baseline-h2", "h2"), **calls}))
    return found


def _schema(folder: Path, name: str) -> str | None:
    """The path of the entry's gRPC schema in the scenario's folder. The entry's files are laid there under `name`."""
    found = (one for one in sorted(folder.rglob("*.proto")) if "service BenchmarkService" in _source(one))
    return next((str(Path(name) / one.relative_to(folder)) for one in found), None)


def _source(file: Path) -> str:
    """The text of an entry's file. It is empty if there is none, or more than people write."""
    try:
        if file.is_symlink() or not file.is_file() or file.stat().st_size > _LARGEST_SOURCE:
            return ""
        return file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _variant_title(title: str, described: dict[str, Any]) -> str:
    """The entry's name with the engine and the mode that it is listed under."""
    words = [str(described[key]) for key in ("engine", "mode") if described.get(key)]
    return f"{title} ({', '.join(words)})" if words else title


def _left_out(tests: Sequence[str], *, has_schema: bool) -> list[SkippedItem]:
    found = []
    for test in tests:
        why = next((why for pattern, why in _LEFT_OUT if fnmatchcase(test, pattern)), "touchstone does not know it")
        without_schema = fnmatchcase(test, "*-grpc*") and not has_schema
        found.append(SkippedItem(f"the profile {test}", _NO_PROTO if without_schema else why))
    return found
