"""Rule: percentiles contradict each other."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from touchstone.judge.figures import LATENCY
from touchstone.judge.judgement import Finding, Severity
from touchstone.judge.language.quantity import seconds
from touchstone.judge.reading.case import Case
from touchstone.judge.rule import SampleRule
from touchstone.record.engine import Distribution
from touchstone.record.sample import Sample

TOLERANCE = 0.01
ORDER = ("min", "p50", "p75", "p90", "p95", "p99", "p99_9", "p99_99", "max")


class PercentilesNotMonotone(SampleRule):
    """A higher percentile cannot be smaller than a lower one.

    Where it is, columns were mixed up or units confused.
    """

    code = "percentiles-not-monotone"
    severity = Severity.INVALID
    title = "Percentiles contradict each other"
    threshold = (
        "min, p50, p75, ... max fall anywhere by more than 1 %; a mean outside of min and max; a curve that "
        "falls; or a negative value"
    )
    threshold_reason = (
        "a histogram of three significant digits rounds by up to 0.1 %, so 1 % is ten times what rounding can do"
    )
    next_step = "The record contradicts itself: measure again, and report it with the record if it comes back."
    looks_at_tares = True

    def look(self, sample: Sample, case: Case) -> Iterator[Finding]:
        """Look at one sample."""
        result = sample.result
        if result is None:
            return
        for name in ("latency", "service", "connect", "lateness"):
            wrong = _contradiction(getattr(result, name))
            if wrong:
                yield self.finding(
                    f"{name}: {wrong}",
                    sample=sample,
                    figures=LATENCY if name in ("latency", "service") else [],
                    evidence={name: getattr(result, name).model_dump(exclude={"histogram"})},
                )


def _contradiction(d: Distribution) -> str | None:
    known = [(name, value) for name in ORDER if (value := getattr(d, name)) is not None]
    if not d.count or not known:
        return None
    for (a, low), (b, high) in itertools.pairwise(known):
        if low < 0 or high < low * (1 - TOLERANCE):
            return f"{a} is {seconds(low)} and {b} is {seconds(high)}"
    if d.mean is not None:
        low, high = d.min or 0.0, d.max if d.max is not None else d.mean
        if not low * (1 - TOLERANCE) <= d.mean <= high * (1 + TOLERANCE):
            return f"the mean is {seconds(d.mean)}, outside of {seconds(low)} to {seconds(high)}"
    for (q, low), (r, high) in zip(d.curve, d.curve[1:], strict=False):
        if r < q or high < low * (1 - TOLERANCE):
            return f"its curve falls from {seconds(low)} at {q:g} to {seconds(high)} at {r:g}"
    return None
