"""Compares two running services by one request, for `touchstone ab URL1 URL2`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from touchstone.bench.outside import inspect_outside
from touchstone.contract.values import ValueSource
from touchstone.engine.ask import AskedService, Response, refused
from touchstone.failure import InvalidRunError, UsageError
from touchstone.judge.comparison.across import ComparisonTerms
from touchstone.judge.comparison.pair import judge_pair, still_open
from touchstone.judge.judge import judge
from touchstone.judge.statistics.intervals import simultaneous
from touchstone.manifest.catalogue import ScenarioFolder
from touchstone.manifest.exchange import Request
from touchstone.manifest.outside import ExternalService
from touchstone.manifest.scenario import Scenario
from touchstone.manifest.template import literal
from touchstone.plan.plan import RunRequest
from touchstone.record.secret import shown_text
from touchstone.record.store import load_run
from touchstone.run.measure import RunConditions, measure
from touchstone.run.pair import MeasuredPair
from touchstone.vocabulary.status import REDIRECTS

_LOAD = "request"
_ASKED = 2
"""So often each service is asked before the load, to see whether its body stays the same."""


@dataclass(frozen=True)
class UrlQuestion:
    """The request, figures and settings of a comparison of two services."""

    terms: ComparisonTerms
    target: str
    """Path and query."""
    method: str = "GET"
    headers: dict[str, str] = field(default_factory=dict)
    body: str | None = None
    status: int | None = None
    """The right one; what both answer, if it is not given."""
    connections: int = 16
    command: tuple[str, ...] = ()


def compare_urls(
    pair: tuple[ExternalService, ExternalService], question: UrlQuestion, conditions: RunConditions
) -> MeasuredPair:
    """Load both services alternately until every requested figure is decided.

    Raises UsageError if one of them cannot be reached, InvalidRunError if they do not answer alike.
    """
    for service in pair:
        inspect_outside(service)
    folder, notes = one_request(pair, question)
    terms = question.terms
    run_request = RunRequest(
        profile="quick",
        phases=("load",),
        command=question.command,
        margin=min(terms.margin_of(figure) for figure in terms.figures),
        confidence=simultaneous(terms.confidence, len(terms.figures)),
    )
    carried_out = replace(
        conditions,
        still_open=lambda comparison: still_open(comparison, terms),
        notes=[*conditions.notes, *notes],
    )
    store = measure(folder, run_request, outside=pair, conditions=carried_out)
    run = load_run(store.folder)
    judgement = judge(run)
    base, head = ((service.name, shown_text(service.origin + question.target)) for service in pair)
    judged = judge_pair(run, judgement, (base, head), terms, folder.scenario.title)
    return MeasuredPair(run, judgement, judged, store.folder)


def one_request(pair: Sequence[ExternalService], question: UrlQuestion) -> tuple[ScenarioFolder, list[str]]:
    """Return a scenario with one request that both services answer equally, and notes about it.

    Raises UsageError for a request that cannot be, InvalidRunError if there is no such answer.
    """
    request: dict[str, Any] = {
        "method": question.method,
        "target": literal(question.target),
        "headers": {name: literal(value) for name, value in question.headers.items()},
        "body": None if question.body is None else literal(question.body),
    }
    try:
        asked = Request.model_validate(request)
    except ValidationError as error:
        first = error.errors()[0]
        raise UsageError(f"the request's {first['loc'][0]}: {first['msg']}", fix="correct it") from error
    if why := refused([(asked, {})]).get(0):
        raise UsageError(f"the request's {why}", fix="correct it")
    answers = {service.name: [_ask(service, asked) for _ in range(_ASKED)] for service in pair}
    expect: dict[str, Any] = {"status": _status(answers, question.status)}
    bodies = {answer.body for given in answers.values() for answer in given}
    unchecked = len(bodies) > 1 and question.method != "HEAD"
    if not unchecked and question.method != "HEAD":
        expect |= _expected(bodies.pop())
    whole = request | {"expect": expect}
    title = shown_text(f"{question.method} {question.target}")
    scenario = Scenario.model_validate(
        {
            "schema": 1,
            "name": "one-request",
            "title": title,
            "summary": f"{title}, as both services answered it at first.",
            "ready": whole,
            "contract": [{"id": _LOAD, "says": "the request is answered as it was at first", "steps": [whole]}],
            "loads": {
                _LOAD: {"title": title, "connections": question.connections, "requests": [whole | {"name": _LOAD}]}
            },
        }
    )
    # Nothing lies there: the scenario stands in no file.
    folder = ScenarioFolder(Path("(ab)"), scenario, ())
    return folder, ["the bodies differ between responses, so they are not checked"] if unchecked else []


def _ask(service: ExternalService, request: Request) -> Response:
    asked = AskedService(service.origin)
    answer = asked.exchange(request, ValueSource(0).next(), whole=True)
    if answer.failure:
        only = ": it speaks HTTP/2 only, and is asked over HTTP/1.1" if asked.speaks_http2() else ""
        raise InvalidRunError(f"{service.origin}: {answer.failure}{only}", fix="ask it by hand: curl -v")
    return answer


def _status(answers: dict[str, list[Response]], wanted: int | None) -> int:
    found = {name: sorted({answer.status or 0 for answer in given}) for name, given in answers.items()}
    statuses_in_words = "; ".join(
        f"{name} answers {' or '.join(map(str, statuses))}" for name, statuses in found.items()
    )
    every = {status for statuses in found.values() for status in statuses}
    if wanted is not None and every != {wanted}:
        raise InvalidRunError(
            f"the right answer would be {wanted}, but {statuses_in_words}", fix="correct the service, or --status"
        )
    if len(every) > 1:
        raise InvalidRunError(
            f"the two services answer differently: {statuses_in_words}",
            fix="correct the wrong one; if both are right, give a request with the same answer from both",
        )
    (status,) = every
    if wanted is None and status >= 400:
        raise UsageError(f"both answer {status}", fix=f"correct the request; if it is right, give --status {status}")
    if wanted is None and status in REDIRECTS:
        fix = (
            f"redirects are not followed: give the URL that they lead to; if {status} is right, give --status {status}"
        )
        raise UsageError(f"both answer {status}, which leads elsewhere", fix=fix)
    return status


def _expected(body: bytes) -> dict[str, str]:
    """Return the expected body for a manifest: as text, or as bytes if it is not text."""
    try:
        return {"body": literal(body.decode())}
    except UnicodeDecodeError:
        return {"body": literal(body.decode("latin-1")), "encoding": "bytes"}
