"""The requests of a scenario, wherever they stand: templates, patterns, and expectations that can never be met."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from touchstone.check.problem import Problem
from touchstone.engine.ask import refused
from touchstone.engine.bare import request_without_external_values
from touchstone.manifest.contract import Send
from touchstone.manifest.exchange import Expectation, LoadRequest, Request
from touchstone.manifest.journey import JourneyStep
from touchstone.manifest.mix import Mix
from touchstone.manifest.scenario import Scenario
from touchstone.manifest.template import BuiltInValue, parse

Place = tuple[str | int, ...]
_WITHOUT_BODY = (204, 304)
_FIXES = {"pattern": "write a pattern of Rust's regex crate, without look-around and back-references"}


@dataclass(frozen=True)
class Placed:
    """A request of the contract's kind, with its place in the manifest."""

    key: Place
    request: Request


def requests_of(scenario: Scenario) -> Iterator[Placed]:
    """All requests that are sent by touchstone itself."""
    yield Placed(("ready",), scenario.ready)
    for name, phase in (("hold", scenario.hold), ("bounds", scenario.bounds)):
        if phase is not None:
            yield Placed((name, "request"), phase.request)
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
    asked = list(requests_of(scenario))
    for placed in asked:
        yield from check_expectation(file, placed.key, placed.request)
        if isinstance(placed.request, Send):
            yield from _tally(file, placed.key, placed.request)
    yield from _refused(file, asked)
    for name, load in scenario.loads.items():
        yield from check_mix_requests(file, ("loads", name), load)


def check_mix_requests(file: Path, key: Place, mix: Mix) -> Iterator[Problem]:
    """What is wrong with the requests of a mix at `key`. Raises as check_requests."""
    sent = list(_sent_of(key, mix))
    placed_all = [*sent, *(one for placed in sent for one in _events_of(placed))]
    for placed in placed_all:
        yield from check_expectation(file, placed.key, placed.request)
        if any(piece != BuiltInValue("fresh") for piece in parse(placed.request.expect.pattern or "").placeholders):
            yield _varying_pattern(file, placed)
    yield from _refused(file, placed_all)


def _varying_pattern(file: Path, placed: Placed) -> Problem:
    return Problem(
        file,
        (*placed.key, "expect", "pattern"),
        "a load's pattern takes no placeholder that differs from request to request",
        "state the body by `body` or `json`",
    )


def _events_of(placed: Placed) -> Iterator[Placed]:
    """The events of a streamed response as a request whose response has such a body."""
    if isinstance(placed.request, LoadRequest) and (stream := placed.request.stream):
        expect = Expectation.model_validate(stream.expect.model_dump(by_alias=True))
        request = Request(target="/", expect=expect)
        yield Placed((*placed.key, "stream"), request)


def _sent_of(key: Place, mix: Mix) -> Iterator[Placed]:
    for place, request in enumerate(mix.requests):
        yield Placed((*key, "requests", place), request)
    for number, journey in enumerate(mix.journeys):
        for place, step in enumerate(journey.steps):
            yield Placed((*key, "journeys", number, "steps", place), step)


def check_expectation(file: Path, key: Place, request: Request) -> Iterator[Problem]:
    """Problems of an expectation that no correct response can meet, or that is partly ignored."""
    expect = request.expect
    body = next(
        (k for k, v in (("body", expect.body), ("pattern", expect.pattern), ("json", expect.json_fields)) if v), ""
    )
    statuses = expect.statuses
    if not statuses:
        yield Problem(file, (*key, "expect", "status"), "no status is allowed", "name at least one, such as 200")
    for status in statuses:
        if not 100 <= status <= 599:
            yield Problem(file, (*key, "expect", "status"), f"{status} is not a status code", "codes are 100 to 599")
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


def _refused(file: Path, placed: Sequence[Placed]) -> Iterator[Problem]:
    """What the engine, which sends them, does not take of the requests."""
    captures = [one.request.captures if isinstance(one.request, Send | JourneyStep) else {} for one in placed]
    requests = [request_without_external_values(one.request) for one in placed]
    for place, refusal in refused(list(zip(requests, captures, strict=True))).items():
        part, _, why = refusal.partition(": ")
        key = tuple(part.split(".", 2))
        if key == ("expect", "body"):
            expect = placed[place].request.expect
            key = ("expect", "pattern" if expect.pattern is not None else "json" if expect.json_fields else "body")
        yield Problem(file, (*placed[place].key, *key), why, _FIXES.get(key[-1], "correct it; docs/manifests.md"))
