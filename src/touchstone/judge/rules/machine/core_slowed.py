"""Rule: the server's core was slower than it can be, which cost contenders requests."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator

import numpy as np

from touchstone.judge.figures import CPU, SPEED
from touchstone.judge.judgement import Finding, Severity
from touchstone.judge.language.quantity import share
from touchstone.judge.reading.case import Case
from touchstone.judge.reading.core import CoreLap, core_laps
from touchstone.judge.reading.disturbance import others_share
from touchstone.judge.reading.traffic import loop
from touchstone.judge.rule import RunRule
from touchstone.judge.rules.machine.other_processes import SUSPECT as OTHERS
from touchstone.record.sample import TARE

_BEST = 5
"""The percentile of what the work of reference took that stands for a core left alone: the least one is luck."""
_LOST = 0.15
_TOLD = 4


class CoreSlowed(RunRule):
    """A core whose other hyperthread or whose caches work for somebody else gives each service another share of its
    speed.

    Services that read much memory lose more. So the ratio of two services is that of the machine as it was, and
    may be another one on a machine that is left alone.
    """

    code = "core-slowed"
    severity = Severity.NOTE
    title = "The core was slower than it can be"
    threshold = (
        "by the slope of its rate over the fixed piece of work that is timed on its CPUs, a contender would have "
        "answered 15 % more requests on a core as fast as in the best twentieth of the load's slices; silent where "
        "other processes used 10 % of the machine or more: what they took comes and goes with the core's speed"
    )
    threshold_reason = "on a quiet virtual machine up to 10 % were seen"
    next_step = (
        "Nothing is wrong with the contenders. Where they would gain unequally their ratio is another one on a quiet "
        "host: measure again there, or at another hour."
    )

    def look(self, case: Case) -> Iterator[Finding]:
        """Look at each load in a closed loop."""
        for load in case.loads:
            sliced = [s for s in case.run.samples if (s.phase, s.load) == ("load", load) and loop(s) == "closed"]
            laps = {sample.id: core_laps(sample) for sample in sliced}
            known = [lap.work for one in laps.values() for lap in one]
            if not known or any((others_share(s, case.run.environment.cpus) or 0.0) > OTHERS for s in sliced):
                continue
            best = float(np.percentile(known, _BEST))
            gains: dict[str, float] = {}
            for name in dict.fromkeys(s.contender for s in sliced if s.contender != TARE):
                own = [sample for sample in sliced if sample.contender == name]
                if (slope := case.core_slopes.get(("load", load, name))) is not None:
                    gains[name] = math.expm1(-slope * _slower([lap for s in own for lap in laps[s.id]], best))
            if max(gains.values(), default=0.0) >= _LOST:
                slower = math.expm1(statistics.fmean(known) - best)
                yield self.finding(
                    f"the core was {share(slower)} slower than at its best: left alone {_told(gains)}",
                    load=load,
                    figures=[*SPEED, *CPU],
                    evidence={"slower": slower, "gains": gains},
                )


def _slower(laps: list[CoreLap], best: float) -> float:
    return statistics.fmean(lap.work for lap in laps) - best


def _told(gains: dict[str, float]) -> str:
    most = sorted(gains, key=lambda name: -gains[name])[:_TOLD]
    first, *rest = (f"{name} {{}}about {share(gains[name])} more" for name in most)
    return ", ".join([first.format("would answer "), *(one.format("") for one in rest)]) + " requests"
