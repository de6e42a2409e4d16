"""Rules on the warm-up: requests of it that failed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from touchstone.judge.figures import CPU, SPEED
from touchstone.judge.judgement import Severity
from touchstone.judge.language.quantity import number, share
from touchstone.judge.reading.case import Case
from touchstone.judge.reading.traffic import lost_in_warm_up, slots
from touchstone.judge.rule import Fired, on_sample
from touchstone.record.sample import Sample

_WARM_UP_FAILED_MANY = 0.01
_WARM_UP_FAILED_BROKEN = ("malformed", "closed_mid_response")
_MANY_BROKEN = 0.001


@on_sample(
    "warm-up-failed",
    Severity.SUSPECT,
    title="Requests of the warm-up failed",
    threshold=(
        "the share of warm-up requests that fail exceeds the load's `error_allowance`. It is suspect if 1 % or more "
        "fail, or if 0.1 % or more of the responses are malformed or cut off; otherwise it is a note"
    ),
    threshold_reason=(
        "a service that has reported itself ready should respond. Fewer than one failed request in a hundred has no "
        "effect that matters. Even a service that is still starting does not send malformed responses. After a "
        "malformed response the engine opens a new connection. If one of several workers sends malformed responses, "
        "all connections finally lead to the other workers, and the window has no errors"
    ),
    next_step=(
        "Read the contender's log from its start. A service that needs longer to start should not yet answer the "
        "ready request."
    ),
)
def warm_up_failed(sample: Sample, case: Case) -> Iterator[Fired]:
    """In the warm-up, caches fill and compilers optimise the code that runs.

    If its requests fail, the service has warmed up with other work than the measured one, or was not ready when it said
    so.
    """
    sent, errors = _in_warm_up(sample)
    failed = errors.total()
    part = min(1.0, failed / max(1, sent))
    if part <= sample.spec.error_allowance:
        return
    broken = sum(errors[name] for name in _WARM_UP_FAILED_BROKEN) / max(1, sent)
    known = ", ".join(f"{number(count)} {name.replace('_', ' ')}" for name, count in errors.most_common() if name)
    yield Fired(
        f"{number(failed)} of {number(sent)} requests of the warm-up failed ({share(part)})"
        + (f": {known}" if known else ""),
        severity=Severity.SUSPECT if part >= _WARM_UP_FAILED_MANY or broken >= _MANY_BROKEN else Severity.NOTE,
        figures=[*SPEED, *CPU],
        evidence={"failed": failed, "sent": sent},
    )


def _in_warm_up(sample: Sample) -> tuple[int, Counter[str]]:
    """Requests sent in the warm-up, and those of them that failed, by class. By none where the record does not say.

    A connection that the server closed while it rested cost no request. The series of a whole window of an older engine
    counts it all the same, so that nothing is said of it where the window itself has seen some.
    """
    if sample.slices is not None:
        turns = [one for one in sample.slices.slices if one.lap_phase == "warmup"]
        errors: Counter[str] = Counter()
        for turn in turns:
            errors.update(turn.errors)
        return sum(one.sent for one in turns), errors
    result = sample.result
    if result is None or (result.is_of_older_engine and result.connections.errors.closed_idle):
        return 0, Counter()
    points = [point for point in result.series if point.phase == "warmup"]
    return sum(point.sent for point in points), Counter({"": sum(point.errors for point in points)})


_WARM_UP_UNANSWERED_MANY = 0.02


@on_sample(
    "warm-up-unanswered",
    Severity.INVALID,
    title="Requests of the warm-up were never answered",
    threshold=(
        "some requests of the warm-up fail, or have no response, after the window has begun. Their share is above "
        "the load's `error_allowance`. It is invalid from 2 % of the requests that can be in progress at once, "
        "otherwise suspect"
    ),
    threshold_reason=(
        "a healthy service answers these requests at the beginning of the window. 2 % fewer connections can change "
        "throughput by 2 %, which is close to the margin"
    ),
    next_step="Find the unanswered requests in the contender's log, and look at the errors of the warm-up.",
    own_failure=True,
)
def warm_up_unanswered(sample: Sample, case: Case) -> Iterator[Fired]:
    """A warm-up request without a response blocks its connection for the whole window.

    The load then has fewer connections than planned. The window's counts do not include the request, because it was
    sent before the window.
    """
    result = sample.result
    if result is None or result.interrupted:
        return
    lost, places = lost_in_warm_up(result), max(1, slots(sample))
    if lost <= sample.spec.error_allowance * places:
        return
    yield Fired(
        f"{number(lost)} requests of the warm-up still had no response during the window, in which at most "
        f"{number(places)} can be in flight",
        severity=Severity.INVALID if lost >= _WARM_UP_UNANSWERED_MANY * places else Severity.SUSPECT,
        evidence={"lost": lost, "slots": places},
    )
