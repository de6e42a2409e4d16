"""Rule: a contender still got faster when its warm-up's time was used up."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.judge.figures import CPU, SPEED
from touchstone.judge.judgement import Doubt, Finding, Severity
from touchstone.judge.language.quantity import number, seconds, share
from touchstone.judge.reading.case import Case
from touchstone.judge.rule import SampleRule
from touchstone.record.sample import Sample


class StillWarmingUp(SampleRule):
    """A runtime that compiles while it runs is measured on its way up: what was seen is a lower bound of its speed.

    A comparison may then say that it is at least so fast, and never that it is slower. Where it was warm in most
    rounds, and in three or more, those are compared and the others are left out.
    """

    code = "still-warming-up"
    severity = Severity.SUSPECT
    title = "The warm-up's time was used up while the rate still rose"
    threshold = "a load in slices whose warm-up did not end flat: its rate grew by 3 % or more from stretch to stretch"
    threshold_reason = (
        "growth below 3 % goes under in the noise of an ordinary machine; a rate that grows faster is still far from "
        "where it will be"
    )
    next_step = "Take a longer profile: the figures of a young process are the peak phase's."
    phases = ("load",)

    def look(self, sample: Sample, case: Case) -> Iterator[Finding]:
        """Look at one sample."""
        warm_up = sample.slices.warm_up if sample.slices else None
        if warm_up is None or warm_up.ended != "budget":
            return
        grew = "" if warm_up.growth is None else f", by {share(warm_up.growth)} at the end"
        yield self.finding(
            f"after {seconds(warm_up.seconds)} and {number(warm_up.requests)} requests its rate still rose{grew}",
            sample=sample,
            figures=[*SPEED, *CPU],
            doubt=Doubt(faster=None, this_round=True, reason="how far it will still rise, nobody has seen"),
            evidence=warm_up.model_dump(),
        )
