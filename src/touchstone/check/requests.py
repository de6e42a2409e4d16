"""The requests of a scenario, wherever they stand: templates, patterns, and expectations that can never be met."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from touchstone.check.patterns import engine_refuses, pattern_request, python_refuses
from touchstone.check.problem import Problem
from touchstone.contract.template import Values
from touchstone.engine.job import weighted
from touchstone.manifest.contract import Send
from touchstone.manifest.exchange import Expectation, Request
from touchstone.manifest.load import Load
from touchstone.manifest.scenario import Scenario

Place = tuple[str | int, ...]
_SAMPLE = Values(counter=1, fresh="0123abcd", random="0123456789abcdef")
_LIKE_A_TEMPLATE = re.compile(r"(?<!\{)\{([a-zA-Z_][a-zA-Z_0-9-]*)\}(?!\})")
_IN_CONTRACT = ("counter", "fresh", "random")
_LARGEST_REPEAT = re.compile(r"\{.\*(\d+)\}", re.DOTALL)
_REPEATED_AT_MOST = 16 * 2**20
_WITHOUT_BODY = (204, 304)
_DIALECT = "write what Python's re and Rust's regex both take; docs/add-a-stack.md tells the differences"


@dataclass(frozen=True)
class Placed:
    """A request of the contract's kind, with its place in the manifest."""

    key: Place
    request: Request


def requests_of(scenario: Scenario) -> Iterator[Placed]:
    """All requests that are sent by the lab itself, in the contract's template language."""
    yield Placed(("ready",), scenario.ready)
    for number, check in enumerate(scenario.contract):
        for place, step in enumerate(check.steps):
            if isinstance(step, Send):
                yield Placed(("contract", number, "steps", place), step)
    for name, load in scenario.loads.items():
        for place, step in enumerate(load.prepare):
            if isinstance(step, Send):
                yield Placed(("loads", name, "prepare", place), step)


def check_requests(file: Path, scenario: Scenario) -> Iterator[Problem]:
    """What is wrong with the requests of contract, preparation and loads. Raises TouchstoneError without an engine."""
    for placed in requests_of(scenario):
        yield from _templates(file, placed)
        yield from check_expectation(file, placed.key, placed.request)
        if placed.key == ("ready",):
            yield from _encoding(file, placed.key, placed.request)
        if isinstance(placed.request, Send):
            yield from _tally(file, placed.key, placed.request)
    for name, load in scenario.loads.items():
        for place, request in enumerate(load.requests):
            yield from check_expectation(file, ("loads", name, "requests", place), request)
            yield from _encoding(file, ("loads", name, "requests", place), request)
        yield from _sent_by_engine(file, name, load)
    yield from _patterns(file, scenario)


def _templates(file: Path, placed: Placed) -> Iterator[Problem]:
    request, expect = placed.request, placed.request.expect
    texts: dict[Place, str | None] = {("target",): request.target, ("body",): request.body}
    texts |= {("headers", name): value for name, value in request.headers.items()}
    texts |= {("expect", "body"): expect.body, ("expect", "pattern"): expect.pattern}
    for key, text in texts.items():
        for match in _LIKE_A_TEMPLATE.finditer(text or ""):
            if match[1] not in _IN_CONTRACT:
                yield Problem(
                    file,
                    (*placed.key, *key),
                    f"{match[0]} is no template: it would stand there as it is",
                    "templates of a contract are {counter}, {fresh}, {random} and {x*10}; for braces write {{ and }}",
                )
        for match in _LARGEST_REPEAT.finditer(text or ""):
            if len(match[1]) > 9 or int(match[1]) > _REPEATED_AT_MOST:
                yield Problem(
                    file, (*placed.key, *key), f"{match[0]} is larger than 16 MiB", "repeat the character less often"
                )


def check_expectation(file: Path, key: Place, request: Request) -> Iterator[Problem]:
    """An expectation that no correct response can meet, or of which a part is never looked at."""
    expect = request.expect
    body = next(
        (k for k, v in (("body", expect.body), ("pattern", expect.pattern), ("json", expect.json_fields)) if v), ""
    )
    statuses = expect.statuses
    if not statuses:
        yield Problem(file, (*key, "expect", "status"), "no status is allowed", "name at least one, such as 200")
    for status in statuses:
        if not 100 <= status <= 599:
            yield Problem(file, (*key, "expect", "status"), f"{status} is no status code", "codes are 100 to 599")
    if body and request.method == "HEAD":
        yield Problem(file, (*key, "expect", body), "an answer to HEAD has no body", f"leave `{body}` out")
    elif body and statuses and all(status in _WITHOUT_BODY or status < 200 for status in statuses):
        shown = " or ".join(map(str, statuses))
        yield Problem(file, (*key, "expect", body), f"an answer with status {shown} has no body", f"leave `{body}` out")
    if expect.json_exact and expect.json_fields is None:
        yield Problem(
            file,
            (*key, "expect", "json_exact"),
            "there is no `json` that it could be said of",
            "add `json`, or leave it out",
        )


def _encoding(file: Path, key: Place, request: Request) -> Iterator[Problem]:
    """The engine undoes no content coding, and fills no template into bytes."""
    expect = request.expect
    if expect.encoding == "decoded":
        yield Problem(
            file,
            (*key, "expect", "encoding"),
            "the engine, which sends this request, does not undo a Content-Encoding",
            "check the decoded body in the contract, and here `pattern` with encoding = 'bytes', or the head alone",
        )
    elif expect.encoding == "bytes" and "{" in (expect.body or ""):
        yield Problem(
            file,
            (*key, "expect", "body"),
            "in bytes that the engine checks there is no template",
            "write a `pattern`",
        )


def _tally(file: Path, key: Place, step: Send) -> Iterator[Problem]:
    if not step.tally:
        return
    if sum(step.tally.values()) != step.repeat:
        yield Problem(
            file,
            (*key, "tally"),
            f"it counts {sum(step.tally.values())} answers, and {step.repeat} requests are sent",
            "let the tally add up to `repeat`",
        )
    for status in step.tally:
        if not status.isdecimal() or int(status) not in step.expect.statuses:
            allowed = ", ".join(map(str, step.expect.statuses))
            yield Problem(
                file,
                (*key, "tally"),
                f"status {status} is not among those expected ({allowed})",
                "add it to `expect.status`",
            )


def _sent_by_engine(file: Path, name: str, load: Load) -> Iterator[Problem]:
    """The engine's own word on templates, methods and expectations of a load."""
    for place, why in engine_refuses([weighted(request) for request in load.requests]).items():
        field, mend = _mend(load.requests[place], why)
        yield Problem(file, ("loads", name, "requests", place, *field), why, mend)


def _mend(request: Request, why: str) -> tuple[Place, str]:
    if "brace" in why:
        for name in ("fresh", "*"):
            if f"{{{name}" in f"{request.target}{request.body}{request.expect.body}" and name == "fresh":
                return (), "{fresh} is the contract's: in a load write {counter} or {random}"
        return (), "templates of a load are {counter}, {random} and {thread}; for braces write {{ and }}"
    if request.expect.pattern is not None:
        return ("expect", "pattern"), _DIALECT
    return (), "see docs/engine-protocol.md"


def _patterns(file: Path, scenario: Scenario) -> Iterator[Problem]:
    """Each pattern in both dialects; those of loads have been before the engine already."""
    in_contract: list[tuple[Place, str]] = []
    for placed in requests_of(scenario):
        in_contract += _patterns_of(placed.key, placed.request.expect, filled=True)
    in_loads: list[tuple[Place, str]] = []
    for name, load in scenario.loads.items():
        for place, request in enumerate(load.requests):
            in_loads += _patterns_of(("loads", name, "requests", place), request.expect, filled=False)
    refused = engine_refuses([pattern_request(pattern) for _, pattern in in_contract])
    for place, (key, pattern) in enumerate(in_contract):
        if (why := python_refuses(pattern) or refused.get(place)) is not None:
            yield Problem(file, key, f"the pattern {pattern!r} is not taken: {why}", _DIALECT)
    for key, pattern in in_loads:
        if (why := python_refuses(pattern)) is not None:
            yield Problem(file, key, f"the pattern {pattern!r} is not taken: {why}", _DIALECT)


def _patterns_of(key: Place, expect: Expectation, *, filled: bool) -> Iterator[tuple[Place, str]]:
    if expect.pattern is not None:
        yield (*key, "expect", "pattern"), _SAMPLE.fill(expect.pattern) if filled else expect.pattern
    for name, pattern in expect.headers.items():
        yield (*key, "expect", "headers", name), pattern
