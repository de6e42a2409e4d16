"""Rule: several contenders are level at the ceiling."""

from __future__ import annotations

import statistics
from collections.abc import Iterator

from touchstone.judge.figures import SPEED
from touchstone.judge.judgement import Doubt, Finding, Severity
from touchstone.judge.language.quantity import number, share
from touchstone.judge.reading.case import Case
from touchstone.judge.reading.traffic import NEAR_CEILING, has_cpu_to_spare, loop, server_busy
from touchstone.judge.rule import RunRule

LEVEL = 0.02


class LevelAtCeiling(RunRule):
    """Contenders that end within two percent of each other at the ceiling were not compared.

    The generator was measured several times.
    """

    code = "level-at-ceiling"
    severity = Severity.SUSPECT
    title = "Several contenders are level at the ceiling"
    threshold = (
        "closed loop: two or more contenders within 2 % of each other, above 90 % of the tare, none with its CPUs "
        "90 % busy"
    )
    threshold_reason = (
        "two percent is what a run repeats itself to on a quiet machine; servers with CPU to spare that end level "
        "share a limit outside of them, which presses them together and turns none around"
    )
    next_step = "Give the engine more CPUs or the servers fewer; rank them by CPU per request meanwhile."

    def look(self, case: Case) -> Iterator[Finding]:
        """Look at the run."""
        for load in case.loads:
            ceiling = case.ceiling(load)
            if not ceiling:
                continue
            at_ceiling: dict[str, float] = {}
            for group in case.groups_of("load"):
                rates = [
                    s.result.rate.achieved
                    for s in group.samples
                    if s.result and loop(s) == "closed" and has_cpu_to_spare(server_busy(s))
                ]
                if group.load == load and rates and statistics.median(rates) > NEAR_CEILING * ceiling:
                    at_ceiling[group.contender] = statistics.median(rates)
            top = max(at_ceiling.values(), default=0.0)
            level = sorted(c for c, rate in at_ceiling.items() if rate >= top * (1 - LEVEL))
            if len(level) > 1:
                for contender in level:
                    yield self.finding(
                        f"{', '.join(level)} are within {share(LEVEL)} of each other at the ceiling of "
                        f"{number(ceiling)}/s",
                        contender=contender,
                        load=load,
                        figures=SPEED,
                        doubt=Doubt(faster=None, presses=True, reason="without their shared limit they may be apart"),
                        evidence={"rates": at_ceiling, "tare": ceiling},
                    )
