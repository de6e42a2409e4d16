"""Rule: requests of the warm-up failed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from touchstone.judge.figures import CPU, SPEED
from touchstone.judge.judgement import Finding, Severity
from touchstone.judge.language.quantity import number, share
from touchstone.judge.reading.case import Case
from touchstone.judge.reading.traffic import allowance
from touchstone.judge.rule import SampleRule
from touchstone.record.sample import Sample

MANY = 0.01
BROKEN = ("malformed", "closed_mid_response")
MANY_BROKEN = 0.001


class WarmUpFailed(SampleRule):
    """The warm-up's answers are in no figure, and prepare all of them: caches fill and compilers learn from it.

    A service that fails there was warmed up by other work than it is measured on, or was not ready when it said so.
    """

    code = "warm-up-failed"
    severity = Severity.SUSPECT
    title = "Requests of the warm-up failed"
    threshold = (
        "errors of the warm-up over its requests, above the load's `error_allowance`: suspect from 1 % on, or from "
        "0.1 % of responses that were malformed or cut off, a note below"
    )
    threshold_reason = (
        "a service that has said that it is ready answers; what one request in a hundred leaves undone is below the "
        "least effect that matters, even where it would have cost several times the others; no start-up makes a "
        "response malformed, and each costs its connection: where one worker of several does it, all connections end "
        "up at the others, and the window sees nothing of it"
    )
    next_step = "Read the contender's log from its start on; a service that needs longer says so by its ready request."

    def look(self, sample: Sample, case: Case) -> Iterator[Finding]:
        """Look at one sample."""
        sent, errors = _in_warm_up(sample)
        failed = errors.total()
        part = min(1.0, failed / max(1, sent))
        if part <= allowance(sample):
            return
        broken = sum(errors[name] for name in BROKEN) / max(1, sent)
        known = ", ".join(f"{number(count)} {name.replace('_', ' ')}" for name, count in errors.most_common() if name)
        yield self.finding(
            f"{number(failed)} of {number(sent)} requests of the warm-up failed ({share(part)})"
            + (f": {known}" if known else ""),
            severity=Severity.SUSPECT if part >= MANY or broken >= MANY_BROKEN else Severity.NOTE,
            sample=sample,
            figures=[*SPEED, *CPU],
            evidence={"failed": failed, "sent": sent},
        )


def _in_warm_up(sample: Sample) -> tuple[int, Counter[str]]:
    """Requests sent in the warm-up, and those of them that failed, by class; by none where the record does not say.

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
