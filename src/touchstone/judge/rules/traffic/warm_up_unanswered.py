"""Rule: requests of the warm-up were still without a response when the window ran."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.judge.judgement import Finding, Severity
from touchstone.judge.language.quantity import number
from touchstone.judge.reading.case import Case
from touchstone.judge.reading.traffic import allowance, lost_in_warm_up, slots
from touchstone.judge.rule import SampleRule
from touchstone.record.sample import Sample

MANY = 0.02


class WarmUpUnanswered(SampleRule):
    """A request of the warm-up that never gets its response holds its connection for the whole window.

    It is in none of the window's counts, since it was sent before the window: the load has fewer connections than it
    says, and the fault that took them is not seen.
    """

    code = "warm-up-unanswered"
    severity = Severity.INVALID
    title = "Requests of the warm-up were never answered"
    threshold = (
        "any request of the warm-up that failed or was still without a response after the window began to be "
        "measured, beyond the share of errors that the load allows: invalid from 2 % of what can be under way at once, "
        "suspect below"
    )
    threshold_reason = (
        "a sound service answers the requests that are under way when the window begins within the window; 2 % fewer "
        "connections move a closed loop by about as much as the least effect that a comparison looks for"
    )
    next_step = "Find the requests that are not answered in the contender's log; the warm-up's errors count as well."
    own_failure = True

    def look(self, sample: Sample, case: Case) -> Iterator[Finding]:
        """Look at one sample."""
        result = sample.result
        if result is None or result.interrupted:
            return
        lost, places = lost_in_warm_up(result), max(1, slots(sample))
        if lost <= allowance(sample) * places:
            return
        yield self.finding(
            f"{number(lost)} requests of the warm-up had no response when the window ran; {number(places)} can be "
            f"under way at once",
            severity=Severity.INVALID if lost >= MANY * places else Severity.SUSPECT,
            sample=sample,
            evidence={"lost": lost, "slots": places},
        )
