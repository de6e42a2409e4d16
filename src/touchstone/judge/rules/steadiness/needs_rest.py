"""Rule: a contender keeps its rate only as long as it may rest between its turns."""

from __future__ import annotations

import statistics
from collections.abc import Iterator

from touchstone.judge.figures import SPEED
from touchstone.judge.judgement import Doubt, Finding, Severity
from touchstone.judge.language.quantity import share
from touchstone.judge.reading.case import Case, Group
from touchstone.judge.reading.neighbours import neighbours
from touchstone.judge.rule import GroupRule

KEPT = 0.75


class NeedsRest(GroupRule):
    """In slices each contender rests while the others have their turn, and something may be refilled meanwhile.

    A rate limiter's tokens, a quota of CPU time, credits of a disk or of a small virtual machine, a queue that is
    worked off elsewhere: they last for a short turn, and under a load without pauses they do not.
    """

    code = "needs-rest"
    severity = Severity.SUSPECT
    title = "It keeps its rate only with rests"
    threshold = (
        "closed loop in slices: in a turn of 1.5 s without a rest, at the end of the first round's warm-up, and of the "
        "second's if anybody kept less than 80 % of its rate in the first, it "
        "answers less than in the slowest of four slices and more, and less than 75 % of what it does in the middle "
        "one, next to the same ratio of the other contenders and the null server in the middle; in each of these "
        "rounds; not where the warm-up's time was used up"
    )
    threshold_reason = (
        "a busy machine slows a turn of 1.5 s as it slows six slices of a quarter second, and the others alike; what "
        "is refilled in rests that are several times as long as a turn makes a difference of that many times"
    )
    next_step = (
        "Look for a limiter of the rate, a quota or credits; measure without rests: --whole-windows, or the phase peak."
    )

    def look(self, group: Group, case: Case) -> Iterator[Finding]:
        """Look at one group."""
        kept: dict[str, float] = {}
        for sample in group.samples:
            evidence = sample.slices
            own = evidence.kept if evidence is not None else None
            if evidence is None or own is None:
                continue
            if evidence.warm_up is not None and evidence.warm_up.ended != "flat":
                continue
            others = [one.slices.kept for one in neighbours(sample, case.run) if one.slices is not None]
            usual = statistics.median([found for found in others if found is not None] or [1.0])
            if own >= KEPT * min(1.0, usual) or evidence.unbroken_rate >= min(evidence.lap_rates):
                return
            kept[sample.id] = own
        if kept:
            middle = statistics.median(kept.values())
            yield self.finding(
                f"loaded for 1.5 s without a rest, it answered {share(middle)} of what it does in turns",
                group=group,
                figures=[*SPEED],
                doubt=Doubt(slower=None, reason="without rests it is slower, and the longer the load the more so"),
                evidence={"kept": kept},
            )
