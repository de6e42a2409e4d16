"""Entries of HttpArena: `meta.json`, a Dockerfile, and the profiles that the entry takes part in.

Source: the documentation of its profiles and of `meta.json`, and the definitions of its profiles, in its repository.
"""

from __future__ import annotations

from collections.abc import Sequence
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
_TLS = "it is sent over TLS, with a certificate that the benchmark mounts below /certs"
_SEVERAL = "it is several containers next to each other"

_LEFT_OUT = (
    ("*grpc*", "it is gRPC, which an import does not express yet"),
    ("echo-ws*", "it is WebSocket, which an import does not express yet"),
    ("gateway-*", _SEVERAL),
    ("production-stack", _SEVERAL),
    ("*-h3", "it is HTTP/3, and a load is HTTP/1.1 or HTTP/2"),
    ("*-h2", _TLS),
    ("*-tls", _TLS),
    ("*bit", _TLS),
    ("echo-*", _TLS),
    ("json*", _DATA),
    ("static*", _DATA),
    ("async-db", _DATABASE),
    ("crud", _DATABASE),
    ("fortunes", _DATABASE),
    ("api-*", _DATABASE),
)
"""Profiles by pattern, the first that fits, and why the lab does not express them."""
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


def _sum_over_h2c(a: int, b: int) -> DraftRequest:
    return _get("sum", f"/baseline2?a={a}&b={b}", str(a + b), f"the sum of {a} and {b} in the query is answered")


def _paced(name: str, rate: int, profiles: Sequence[str]) -> EntryTest:
    title = f"{rate:,} requests per second on 1,024 connections"
    settings = {"loop": "open", "rate": rate, "connections": 1024, "profiles": list(profiles)}
    return EntryTest(name, [_sum(1, 2)], DraftLoad(name, title, [_sum(1, 2)], settings=settings))


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


# Two requests with numbers of their own: an answer from memory is found out.
_H2C_TESTS = {
    "baseline-h2c": EntryTest(
        "baseline-h2c",
        [_sum_over_h2c(13, 42), _sum_over_h2c(271, 828)],
        DraftLoad(
            "baseline-h2c",
            "Sums of a query over HTTP/2 on 256 connections of 100 streams",
            [_sum_over_h2c(1, 1)],
            settings={"connections": 256, "streams": 100, "protocol": "h2c"},
        ),
    )
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
            "there is no Dockerfile" + (": build.sh builds its image, and the lab runs no scripts" * by_script),
            where=str(folder),
            fix="build the image by hand, and name it as `image` in a stack.toml with `port = 8080`",
        )
    name = slug(folder.resolve().name)
    title = str(described.get("display_name") or name)
    taken = {test: _TESTS[test] for test in _TESTS if test in tests}
    over_h2c = {test: _H2C_TESTS[test] for test in _H2C_TESTS if test in tests}
    variants = [EntryVariant("image", _variant_title(title, described), "Dockerfile", _PORT, taken)]
    if over_h2c:
        words = f"{_variant_title(title, described)}, h2c"
        variants.append(EntryVariant("image-h2c", words, "Dockerfile", _H2C_PORT, over_h2c))
    unlike = [*([_CHUNKED] if "baseline" in taken else []), *([_LARGE] if "upload" in taken else [])]
    return BenchmarkEntry(
        benchmark="HttpArena",
        folder=folder,
        name=name,
        title=title,
        language=str(described.get("language") or "unknown"),
        summary=str(described.get("description") or ""),
        variants=variants,
        left_out=[*_left_out(tests), *unlike],
        known=[*_TESTS, *_H2C_TESTS],
    )


def _variant_title(title: str, described: dict[str, Any]) -> str:
    """The entry's name with the engine and the mode that it is listed under."""
    words = [str(described[key]) for key in ("engine", "mode") if described.get(key)]
    return f"{title} ({', '.join(words)})" if words else title


def _left_out(tests: Sequence[str]) -> list[SkippedItem]:
    found = []
    for test in tests:
        if test not in _TESTS and test not in _H2C_TESTS:
            why = next((why for pattern, why in _LEFT_OUT if fnmatchcase(test, pattern)), "the lab does not know it")
            found.append(SkippedItem(f"the profile {test}", why))
    return found
