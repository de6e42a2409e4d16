"""Rule: nobody looks at the bodies of a load."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from touchstone.judge.judgement import Finding, Severity
from touchstone.judge.reading.case import Case
from touchstone.judge.reading.traffic import stated_requests
from touchstone.judge.rule import RunRule
from touchstone.record.sample import TARE

_WITHOUT_BODY = {204, 304}
_ANYTHING = ("", "<html><body><h1>Internal error</h1></body></html>", '{"error":"x"}', "7")
"""Texts that no one pattern of a right body matches all of."""


class BodiesUnchecked(RunRule):
    """An error page with status 200, half a body and yesterday's row all pass where only the status is looked at."""

    code = "bodies-unchecked"
    severity = Severity.SUSPECT
    title = "Nobody looks at the bodies of a load"
    threshold = (
        "a request of a load whose expectation names no body, pattern or JSON fields, or a pattern for anything; a "
        "note where all statuses that it allows are errors"
    )
    threshold_reason = (
        "what is not expected cannot be missed; HEAD, 204 and 304 have no body to look at, a redirect "
        "whose Location is stated answers by that, and an error that is asked for has said by its status that there is "
        "no answer"
    )
    next_step = "State the body in the load's `expect`: `body`, `pattern` or `json`."

    def look(self, case: Case) -> Iterator[Finding]:
        """Look at the run's loads, as each was measured."""
        seen = set()
        for sample in case.run.samples:
            if sample.phase != "load" or sample.contender == TARE or sample.load in seen:
                continue
            seen.add(sample.load)
            free = [r for r in stated_requests(sample) if _free(r)]
            if free:
                answers = [request for request in free if not _asks_for_an_error(request)]
                first = (answers or free)[0]
                yield self.finding(
                    f"{first.get('method', 'GET')} {first.get('target', '')}: any body passes",
                    severity=Severity.SUSPECT if answers else Severity.NOTE,
                    load=sample.load,
                    evidence={"requests": free[:3]},
                )


def _statuses(request: dict[str, Any]) -> set[int]:
    """Those that the request's expectation allows; none if it allows all."""
    status = (request.get("expect") or {}).get("status", 200)
    return {status} if isinstance(status, int) else set(status or [])


def _asks_for_an_error(request: dict[str, Any]) -> bool:
    return min(_statuses(request), default=0) >= 400


def _names_location(expect: dict[str, Any]) -> bool:
    """Whether a redirect's target is stated: it is the whole answer, and a client reads no body of it."""
    return any(name.lower() == "location" for name in dict(expect.get("headers") or {}))


def _free(request: dict[str, Any]) -> bool:
    expect = request.get("expect") or {}
    statuses = _statuses(request)
    if request.get("method") == "HEAD" or (statuses and statuses <= _WITHOUT_BODY):
        return False
    if statuses and all(300 <= status < 400 for status in statuses) and _names_location(expect):
        return False
    pattern = expect.get("pattern")
    if pattern is not None:
        return all(re.fullmatch(pattern, text, re.DOTALL) for text in _ANYTHING)
    return expect.get("body") is None and not expect.get("json")
