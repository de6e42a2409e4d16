"""The requests of a scenario, wherever they stand: templates, patterns, and expectations that can never be met."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from touchstone.check.patterns import engine_refuses, pattern_request, python_refuses
from touchstone.check.problem import Problem
from touchstone.engine.bare import bare_request, filled
from touchstone.manifest.contract import Send
from touchstone.manifest.exchange import Request
from touchstone.manifest.journey import JourneyStep
from touchstone.manifest.mix import Mix
from touchstone.manifest.scenario import Scenario
from touchstone.manifest.template import Plain, parse

Place = tuple[str | int, ...]
_WITHOUT_BODY = (204, 304)
_DIALECT = "write what Python's re and Rust's regex both take; docs/add-a-stack.md tells the differences"


@dataclass(frozen=True)
class Placed:
    """A request of the contract's kind, with its place in the manifest."""

    key: Place
    request: Request


def requests_of(scenario: Scenario) -> Iterator[Placed]:
    """All requests that are sent by the lab itself."""
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
        yield from check_expectation(file, placed.key, placed.request)
        if placed.key == ("ready",):
            yield from _encoding(file, placed.key, placed.request)
        if isinstance(placed.request, Send):
            yield from _tally(file, placed.key, placed.request)
    yield from _patterns(file, scenario)
    for name, load in scenario.loads.items():
        yield from check_mix_requests(file, ("loads", name), load)


def check_mix_requests(file: Path, key: Place, mix: Mix) -> Iterator[Problem]:
    """What is wrong with the requests of a mix at `key`, all of which the engine sends. Raises as check_requests."""
    taken = []
    for placed in _sent_of(key, mix):
        yield from check_expectation(file, placed.key, placed.request)
        yield from _encoding(file, placed.key, placed.request)
        wrong = list(_wrong_patterns(file, placed))
        yield from wrong
        if not wrong:
            taken.append(placed)
    yield from _sent_by_engine(file, taken)


def _wrong_patterns(file: Path, placed: Placed) -> Iterator[Problem]:
    """What is wrong with the patterns of a load's request, but for what the engine alone refuses."""
    for place, pattern in _patterns_of(placed):
        if (why := python_refuses(pattern)) is not None:
            yield _refused(file, place, pattern, why)
    if any(piece != Plain("fresh") for piece in parse(placed.request.expect.pattern or "").placeholders):
        yield Problem(
            file,
            (*placed.key, "expect", "pattern"),
            "a load's pattern takes no placeholder that differs from request to request",
            "state the body by `body` or `json`",
        )


def _sent_of(key: Place, mix: Mix) -> Iterator[Placed]:
    for place, request in enumerate(mix.requests):
        yield Placed((*key, "requests", place), request)
    for number, journey in enumerate(mix.journeys):
        for place, step in enumerate(journey.steps):
            yield Placed((*key, "journeys", number, "steps", place), step)


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


def _sent_by_engine(file: Path, sent: Sequence[Placed]) -> Iterator[Problem]:
    """The engine's own word on methods, targets and expectations of a load."""
    refused = engine_refuses([{"weight": 1} | bare_request(placed.request) for placed in sent])
    for place, why in refused.items():
        pattern = sent[place].request.expect.pattern is not None
        field: Place = ("expect", "pattern") if pattern else ()
        yield Problem(file, (*sent[place].key, *field), why, _DIALECT if pattern else "see docs/engine-protocol.md")


def _patterns(file: Path, scenario: Scenario) -> Iterator[Problem]:
    """Each pattern of what the lab sends, in both dialects."""
    found = [one for placed in requests_of(scenario) for one in _patterns_of(placed)]
    refused = engine_refuses([pattern_request(pattern) for _, pattern in found])
    for place, (key, pattern) in enumerate(found):
        if (why := python_refuses(pattern) or refused.get(place)) is not None:
            yield _refused(file, key, pattern, why)


def _refused(file: Path, key: Place, pattern: str, why: str) -> Problem:
    return Problem(file, key, f"the pattern {pattern!r} is not taken: {why}", _DIALECT)


def _patterns_of(placed: Placed) -> Iterator[tuple[Place, str]]:
    key, expect = placed.key, placed.request.expect
    if expect.pattern is not None:
        yield (*key, "expect", "pattern"), filled(expect.pattern)
    for name, pattern in expect.headers.items():
        yield (*key, "expect", "headers", name), pattern
    if isinstance(placed.request, Send | JourneyStep):
        for name, one in placed.request.captures.items():
            if one.pattern is not None:
                yield (*key, "captures", name, "pattern"), one.pattern
