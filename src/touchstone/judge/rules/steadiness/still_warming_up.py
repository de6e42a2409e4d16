"""Rule: a contender still got faster when its warm-up's time was used up."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.judge.figures import CPU, SPEED
from touchstone.judge.judgement import Doubt, Finding, Severity
from touchstone.judge.language.quantity import number, seconds, share
from touchstone.judge.reading.case import Case
from touchstone.judge.rule import SampleRule
from touchstone.record.evidence.slices import WarmUp
from touchstone.record.sample import Sample


class StillWarmingUp(SampleRule):
    """A runtime that compiles while it runs is measured on its way up: what was seen is a lower bound of its speed.

    A comparison may then say that it is at least so fast, and never that it is slower. Where it was warm in most
    rounds, and in three or more, those are compared and the others are left out.
    """

    code = "still-warming-up"
    severity = Severity.SUSPECT
    title = "The warm-up's time was used up while the contender still got faster"
    threshold = (
        "a load in slices whose warm-up did not end flat: from stretch to stretch its CPU per request fell by 3 % or "
        "more, or its rate grew by 10 % (3 % where its CPU is not known), or it still worked while it rested"
    )
    threshold_reason = (
        "what is below 3 % goes under in the noise of an ordinary machine; who saves more is still far from where it "
        "will be. A rate moves by 10 % with what others take"
    )
    next_step = "Take a longer profile: the figures of a young process are the peak phase's."
    phases = ("load",)

    def look(self, sample: Sample, case: Case) -> Iterator[Finding]:
        """Look at one sample."""
        warm_up = sample.slices.warm_up if sample.slices else None
        if warm_up is None or warm_up.ended != "budget":
            return
        yield self.finding(
            f"after {seconds(warm_up.seconds)} and {number(warm_up.requests)} requests {_still(warm_up)}",
            sample=sample,
            figures=[*SPEED, *CPU],
            doubt=Doubt(faster=None, this_round=True, reason="how far it will still rise, nobody has seen"),
            evidence=warm_up.model_dump(),
        )


def _still(warm_up: WarmUp) -> str:
    """What went on when the time was used up."""
    if warm_up.relief is not None and warm_up.relief >= (warm_up.growth or 0.0):
        return f"its CPU per request still fell, by {share(warm_up.relief)} at the end"
    if warm_up.restless and (warm_up.growth or 0.0) <= 0:
        return "it still worked while it should have rested"
    grew = "" if warm_up.growth is None else f", by {share(warm_up.growth)} at the end"
    return f"its rate still rose{grew}"
