"""The names in templates: columns that the rows have, values that an earlier step captures.

Text in braces that is not a placeholder is refused when the manifest is read; the allowed names depend on its position.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from touchstone.check.problem import Problem
from touchstone.manifest.contract import Act, Send
from touchstone.manifest.exchange import Request, texts_of
from touchstone.manifest.journey import Journey
from touchstone.manifest.load import Load
from touchstone.manifest.mix import Mix
from touchstone.manifest.rows import read_rows
from touchstone.manifest.scenario import Scenario
from touchstone.manifest.template import BuiltInValue, ExternalValue, Variable, parse

Place = tuple[str | int, ...]


def check_templates(file: Path, scenario: Scenario) -> Iterator[Problem]:
    """What is wrong with the names in all templates of a scenario."""
    yield from _none(file, ("ready",), scenario.ready)
    if scenario.hold is not None:
        yield from _none(file, ("hold", "request"), scenario.hold.request)
    if scenario.bounds is not None:
        yield from _none(file, ("bounds", "request"), scenario.bounds.request)
    for number, check in enumerate(scenario.contract):
        captured: list[str] = []
        for place, step in enumerate(check.steps):
            if isinstance(step, Send):
                key: Place = ("contract", number, "steps", place)
                yield from _names(file, key, step, (), captured)
                captured += step.captures
            elif isinstance(step, Act):
                yield from _arguments(file, ("contract", number, "steps", place), step, captured)
        for place, proof in enumerate(check.proofs):
            yield from _text(file, ("contract", number, "proofs", place, "query"), proof.query, (), captured)
    for name, load in scenario.loads.items():
        yield from _load(file, name, load)


def _load(file: Path, name: str, load: Load) -> Iterator[Problem]:
    captured: list[str] = []
    for place, step in enumerate(load.prepare):
        if isinstance(step, Send):
            yield from _names(file, ("loads", name, "prepare", place), step, (), captured)
            captured += step.captures
        elif isinstance(step, Act):
            yield from _arguments(file, ("loads", name, "prepare", place), step, captured)
    yield from check_mix_templates(file, ("loads", name), load, captured)
    for place, proof in enumerate(load.proofs):
        for piece in parse(proof.query).placeholders:
            if piece != BuiltInValue("fresh"):
                yield Problem(
                    file,
                    ("loads", name, "proofs", place, "query"),
                    f"a placeholder but {{fresh}} is of one request, and this is asked after all: {proof.query}",
                    "ask for a count of what the load did",
                )
                break


def check_mix_templates(file: Path, key: Place, mix: Mix, prepared: Sequence[str] = ()) -> Iterator[Problem]:
    """What is wrong with template names in a mix at `key`. `prepared` are names captured before it."""
    columns = read_rows(Path(mix.rows)).columns if mix.rows else ()
    texts = [text for request in mix.all_requests for text in texts_of(request).values()]
    if columns and not any(parse(text).names("row") for text in texts):
        fix = f"write {{row.{columns[0]}}} where one is to stand"
        yield Problem(file, (*key, "rows"), "no request takes a value of them", fix)
    for place, request in enumerate(mix.requests):
        yield from _names(file, (*key, "requests", place), request, columns, prepared)
    for number, journey in enumerate(mix.journeys):
        yield from _journey(file, (*key, "journeys", number), journey, columns, prepared)


def _journey(
    file: Path, key: Place, journey: Journey, columns: Collection[str], prepared: Sequence[str]
) -> Iterator[Problem]:
    captured = list(prepared)
    for place, step in enumerate(journey.steps):
        yield from _names(file, (*key, "steps", place), step, columns, captured)
        captured += step.captures


def _none(file: Path, key: Place, request: Request) -> Iterator[Problem]:
    """The engine sends these as they stand."""
    for place, text in texts_of(request).items():
        for piece in parse(text).placeholders:
            if isinstance(piece, Variable):
                yield from _variable(file, (*key, *place), piece)
            else:
                yield Problem(file, (*key, *place), "this request takes no placeholder but {env.NAME}", "write it out")


def _names(
    file: Path, key: Place, request: Request, columns: Collection[str], captured: Collection[str]
) -> Iterator[Problem]:
    for place, text in texts_of(request).items():
        yield from _text(file, (*key, *place), text, columns, captured)


def _variable(file: Path, key: Place, variable: Variable) -> Iterator[Problem]:
    """An environment variable, which must be set. It may be a secret, so no response is compared with it."""
    sent = key[-2] == "headers" or (key[-1] in ("target", "body") and key[-2] not in ("expect", "with"))
    if not sent:
        what = f"{{env.{variable.name}}} is for what is sent: the target, the values of header fields, the body"
        yield Problem(file, key, what, "send it, and expect by `pattern` what the service makes of it")
    elif variable.name not in os.environ:
        what = f"the environment variable {variable.name} is not set"
        fix = f"set it where touchstone is called: export {variable.name}=..."
        yield Problem(file, key, what, fix, of_environment=True)


def _arguments(file: Path, key: Place, step: Act, captured: Collection[str]) -> Iterator[Problem]:
    for name, value in step.with_.items():
        if isinstance(value, str):
            yield from _text(file, (*key, "with", name), value, (), captured)


def _text(file: Path, key: Place, text: str, columns: Collection[str], captured: Collection[str]) -> Iterator[Problem]:
    for piece in parse(text).placeholders:
        if isinstance(piece, Variable):
            yield from _variable(file, key, piece)
        if not isinstance(piece, ExternalValue):
            continue
        if piece.source == "row" and piece.name not in columns:
            fix = f"there are {', '.join(columns)}" if columns else "a load names a file of them by `rows`"
            yield Problem(file, key, f"{{row.{piece.name}}}: the rows have no such column", fix)
        elif piece.source == "capture" and piece.name not in captured:
            fix = f"captured is {', '.join(captured)}" if captured else "name it in `captures` of a step before"
            yield Problem(file, key, f"{{capture.{piece.name}}}: no earlier step captures it", fix)
