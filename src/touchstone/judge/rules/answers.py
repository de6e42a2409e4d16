"""Rules on answers: requests that failed or were answered wrongly."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from touchstone.judge.figures import LATENCY
from touchstone.judge.judgement import Severity
from touchstone.judge.language.quantity import number, seconds, share
from touchstone.judge.reading.case import Case
from touchstone.judge.reading.traffic import error_share, first_errors, loop, slots
from touchstone.judge.rule import Fired, on_run, on_sample
from touchstone.record.sample import TARE, Sample

_WITHOUT_BODY = {204, 304}
_ANYTHING = ("", "<html><body><h1>Internal error</h1></body></html>", '{"error":"x"}', "7")
"""Texts that no one pattern of a right body matches all of."""


@on_run(
    "bodies-unchecked",
    Severity.SUSPECT,
    title="The bodies of a load are not checked",
    threshold=(
        "`expect` of a request in a load states neither body nor pattern nor JSON fields, or its pattern matches any "
        "text. It is a note if all unchecked requests of the load allow only error statuses"
    ),
    threshold_reason=(
        "touchstone can notice a missing body only if the scenario states the body. Responses to HEAD, and responses "
        "with status 204 or 304, have no body. Two kinds of response are checked without a body: a redirect by its "
        "stated Location header, and an expected error by its status"
    ),
    next_step="State the body in the load's `expect`: `body`, `pattern` or `json`.",
)
def bodies_unchecked(case: Case) -> Iterator[Fired]:
    """If only the status is checked, an error page counts as a right response."""
    seen = set()
    for sample in case.run.samples:
        if sample.phase != "load" or sample.contender == TARE or sample.load in seen:
            continue
        seen.add(sample.load)
        free = [r for r in sample.spec.stated_requests if _free(r)]
        if free:
            answers = [request for request in free if not _asks_for_an_error(request)]
            first = (answers or free)[0]
            yield Fired(
                f"responses to {first.get('method', 'GET')} {first.get('target', '')} pass with any body",
                severity=Severity.SUSPECT if answers else Severity.NOTE,
                load=sample.load,
                evidence={"requests": free[:3]},
            )


def _statuses(request: dict[str, Any]) -> set[int]:
    """Statuses that the request's expectation allows; empty if it allows all."""
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
    if stream := request.get("stream"):
        # Its events are checked, by their data or by their counter.
        return not stream.get("counter") and _any_passes(stream.get("expect") or {})
    if request.get("websocket"):
        # Without an expectation the echo must be the message.
        return _any_passes(expect) and bool(expect.get("pattern"))
    if request.get("method") == "HEAD" or (statuses and statuses <= _WITHOUT_BODY):
        return False
    if statuses and all(300 <= status < 400 for status in statuses) and _names_location(expect):
        return False
    return _any_passes(expect)


def _any_passes(expect: dict[str, Any]) -> bool:
    pattern = expect.get("pattern")
    if pattern is not None:
        return all(re.fullmatch(pattern, text, re.DOTALL) for text in _ANYTHING)
    return expect.get("body") is None and not expect.get("json")


@on_sample(
    "errors-above-allowance",
    Severity.INVALID,
    title="More requests were wrong or failed than the scenario allows",
    threshold=(
        "wrong and failed requests, as a share of those sent, exceed the load's `error_allowance` (0 unless set), or "
        "the window has no right response at all. An idle connection that the server closes does not count as a "
        "request"
    ),
    threshold_reason=(
        "`error_allowance` states which share of failures is normal for the service. If all requests fail, there is "
        "nothing to measure"
    ),
    next_step=(
        "Read the first error of each class below and the server's log. Fix the server. If it is overloaded, lower "
        "the load."
    ),
    own_failure=True,
    tares_too=True,
)
def errors_above_allowance(sample: Sample, case: Case) -> Iterator[Fired]:
    """Error responses cost little, so a server that fails every request would look fastest."""
    result = sample.result
    if result is None or not result.counts.sent:
        return
    counts, share_ = result.counts, error_share(result)
    if result.interrupted and counts.not_right == counts.unanswered:
        # An interrupted load does not wait for requests in flight.
        return
    if share_ <= sample.spec.error_allowance and (counts.ok or not counts.not_right):
        return
    classes = {name: n for name, n in counts.errors if n}
    if counts.unanswered:
        classes["unanswered"] = counts.unanswered
    named = ", ".join(
        f"{number(n)} {name.replace('_', ' ')}" for name, n in sorted(classes.items(), key=lambda i: -i[1])
    )
    yield Fired(
        f"{number(counts.not_right)} of {number(counts.sent)} requests failed or got a wrong response "
        f"({share(share_)}, "
        f"allowed {share(sample.spec.error_allowance)}): {named}",
        evidence={
            "share": share_,
            "allowance": sample.spec.error_allowance,
            "errors": classes,
            "status": result.counts.status,
            "first_errors": first_errors(result),
        },
    )


@on_sample(
    "nothing-answered",
    Severity.INVALID,
    title="Nothing, or almost nothing, was answered within the window",
    threshold=(
        "no request was sent, or none was answered. In a closed loop also: there were fewer responses than requests "
        "that can be in progress at once (connections times pipelining depth)"
    ),
    threshold_reason="with less than one response per connection, the window has measured only a wait",
    next_step=(
        "Read the contender's log and the first errors to find out whether it stopped responding. If one response "
        "takes longer than the window, use a longer window, or a timeout shorter than the window."
    ),
    own_failure=True,
    tares_too=True,
)
def nothing_answered(sample: Sample, case: Case) -> Iterator[Fired]:
    """If a service dies in the warm-up, the window has no requests and no errors.

    It looks like a slow service, and rules that count errors do not fire.
    """
    result = sample.result
    if result is None or result.interrupted:
        return
    counts = result.counts
    # Wrong responses are responses, too: `errors-above-allowance` speaks of them.
    answered = counts.completed
    least = slots(sample) if loop(sample) == "closed" else 1
    if counts.sent and answered >= least:
        return
    window = seconds(result.window.measured_s)
    if not counts.sent:
        what = f"no request was sent in the window of {window}, because no connection was free"
    else:
        what = f"only {number(answered)} responses came in the window of {window}; at least {number(least)} were due"
    yield Fired(what, evidence={"sent": counts.sent, "answered": answered, "least": least})


_MANY_UNANSWERED = 0.1


@on_sample(
    "requests-unanswered",
    Severity.SUSPECT,
    title="Requests were left without an answer",
    threshold=(
        "at the end more requests are unanswered than can be in progress at once (connections times pipelining "
        "depth): suspect; if they also exceed a tenth of the requests: invalid"
    ),
    threshold_reason=(
        "a load always ends with some requests in progress, but not with more than fit on the connections. The "
        "others were still in a queue"
    ),
    next_step=(
        "Lower the rate until the server can answer all requests. The present figures are those of an overloaded "
        "server."
    ),
    own_failure=True,
)
def requests_unanswered(sample: Sample, case: Case) -> Iterator[Fired]:
    """Requests without a response at the end are in no percentile. The longest waits are therefore missing from the
    record.
    """
    result = sample.result
    if result is None or result.counts.unanswered <= slots(sample):
        return
    unanswered, sent = result.counts.unanswered, max(1, result.counts.sent)
    yield Fired(
        f"{number(unanswered)} of {number(sent)} requests never got a response. At most {slots(sample)} could have "
        f"been in flight when the window ended",
        severity=Severity.INVALID if unanswered > _MANY_UNANSWERED * sent else Severity.SUSPECT,
        figures=LATENCY,
        evidence={"unanswered": unanswered, "sent": sent, "slots": slots(sample)},
    )


@on_sample(
    "timeout-beyond-window",
    Severity.SUSPECT,
    title="The timeout is longer than warm-up and window together",
    threshold=(
        "the load's timeout is longer than warm-up and window together, and a request timed out or was left without a "
        "response"
    ),
    threshold_reason=(
        "with such a timeout, a service that stops responding has no errors in the window. Only the unanswered "
        "requests show it"
    ),
    next_step="Give the load a `timeout_s` shorter than its window, or use a longer preset.",
    phases=("load",),
)
def timeout_beyond_window(sample: Sample, case: Case) -> Iterator[Fired]:
    """A request without a response counts as an error only when it times out.

    Here the timeout ends after the window, so the window has no such errors.
    """
    result = sample.result
    if result is None or result.interrupted:
        return
    timeout, watched = sample.spec.timeout_s, result.window.warmup_s + result.window.measured_s
    if timeout is None or not watched or timeout <= watched:
        return
    open_ends = result.counts.unanswered
    if not open_ends and not result.counts.errors.timeout:
        return
    yield Fired(
        f"the timeout of {seconds(timeout)} is longer than warm-up and window together ({seconds(watched)}); "
        f"{open_ends} requests got no response",
        evidence={"timeout_s": timeout, "watched_s": watched, "unanswered": open_ends},
    )


@on_sample(
    "timeouts",
    Severity.INVALID,
    title="Requests timed out",
    threshold=(
        "at least one request timed out. It is invalid if errors exceed the load's error allowance. Otherwise it is "
        "suspect and concerns only latencies"
    ),
    threshold_reason=(
        "a timeout is many times as long as the usual latency, so a single one changes the longest latencies"
    ),
    next_step=(
        "See whether the server stalls (its log, its CPU over time) or is overloaded. Lower the rate, or raise the "
        "timeout so that the full latency is measured."
    ),
    own_failure=True,
    tares_too=True,
)
def timeouts(sample: Sample, case: Case) -> Iterator[Fired]:
    """A request that timed out would have taken longer than the timeout.

    Its real latency is unknown, so the high percentiles are too low.
    """
    if failed := _failed(sample, "timeout"):
        yield Fired(
            f"{failed.of_sent} requests timed out ({failed.share})",
            severity=failed.severity,
            figures=None if failed.severity is Severity.INVALID else LATENCY,
            evidence={"timeouts": failed.count, "sent": failed.sent, "first_errors": failed.first},
        )


@on_sample(
    "wrong-bodies",
    Severity.INVALID,
    title="Responses had the wrong body",
    threshold="any wrong body: invalid above the load's error allowance, otherwise suspect",
    threshold_reason="each request has one right body, so a single wrong body is an error of the service",
    next_step=(
        "Compare the received body with the expected body below. Fix the server, or change `expect` if it is too "
        "strict."
    ),
    own_failure=True,
    tares_too=True,
)
def wrong_bodies(sample: Sample, case: Case) -> Iterator[Fired]:
    """Tools that read only the status count a wrong body with status 200 as a success.

    The body may be an error page, outdated or incomplete.
    """
    if failed := _failed(sample, "wrong_body"):
        why = f": {failed.first[0]['why']}" if failed.first and failed.first[0]["why"] else ""
        yield Fired(
            f"{failed.of_sent} responses ({failed.share}) had the wrong body{why}",
            severity=failed.severity,
            evidence={"wrong_bodies": failed.count, "sent": failed.sent, "first_errors": failed.first},
        )


@on_sample(
    "wrong-statuses",
    Severity.INVALID,
    title="Responses had a status that the scenario does not expect",
    threshold="any unexpected status: invalid above the load's error allowance, otherwise suspect",
    threshold_reason="the scenario states which statuses are right. Any other status is a failure",
    next_step=(
        "Look at the statuses and the first wrong response below. Fix the server, or add the status to the scenario if "
        "it is right."
    ),
    own_failure=True,
    tares_too=True,
)
def wrong_statuses(sample: Sample, case: Case) -> Iterator[Fired]:
    """Error pages are quick to make, so a server that sends them would look fastest.

    For gRPC calls the rule uses the gRPC status.
    """
    seen = sample.result.counts.status if sample.result else {}
    statuses = ", ".join(f"{number(n)} with {status}" for status, n in sorted(seen.items()))
    for failed in filter(None, (_failed(sample, kind) for kind in ("wrong_status", "grpc_status"))):
        yield Fired(
            f"{failed.of_sent} responses ({failed.share}) had an unexpected status. All responses by status: "
            f"{statuses}",
            severity=failed.severity,
            evidence={"status": seen, "first_errors": failed.first},
        )


@dataclass(frozen=True)
class _Failed:
    """Requests of a load that failed in one way."""

    count: int
    sent: int
    severity: Severity
    first: list[dict[str, Any]]

    @property
    def of_sent(self) -> str:
        return f"{number(self.count)} of {number(self.sent)}"

    @property
    def share(self) -> str:
        return share(self.count / self.sent)


def _failed(sample: Sample, kind: str) -> _Failed | None:
    """The requests that failed in this way, invalid above the load's allowance. None if there is none."""
    result = sample.result
    count = getattr(result.counts.errors, kind) if result else 0
    if result is None or not count:
        return None
    above = error_share(result) > sample.spec.error_allowance
    severity = Severity.INVALID if above else Severity.SUSPECT
    return _Failed(count, max(1, result.counts.sent), severity, first_errors(result, kind))
