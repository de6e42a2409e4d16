"""Rule: the machine is noisy."""

from __future__ import annotations

import statistics
from collections.abc import Iterator

from touchstone.judge.figures import CPU, PEAK, SPEED
from touchstone.judge.judgement import Doubt, Finding, Severity
from touchstone.judge.language.quantity import number, share
from touchstone.judge.reading.case import Case
from touchstone.judge.reading.traffic import loop
from touchstone.judge.rule import RunRule

LEAST = 4


class TareNoise(RunRule):
    """Tares are the same work again and again.

    What they scatter by, every figure of the run scatters by.
    """

    code = "tare-noise"
    severity = Severity.SUSPECT
    title = "The machine is noisy"
    threshold = (
        "robust scatter of the tares (1.48 times the median absolute deviation) above three times the margin: "
        "suspect; above the margin: a note"
    )
    threshold_reason = (
        "the intervals of the comparisons show their own noise; at three times the margin single rounds say "
        "nothing, and the few rounds that a run has no longer hold outliers down; a note for loads in slices, where "
        "neighbouring slices share it"
    )
    next_step = "End what else runs (`touchstone doctor --noise`), pin the CPUs, or take more and longer rounds."

    def look(self, case: Case) -> Iterator[Finding]:
        """Look at the run."""
        for load in case.tared:
            rates = [t.result.rate.achieved for t in case.tares(load) if t.result and loop(t) == "closed"]
            if len(rates) < LEAST:
                continue
            middle = statistics.median(rates)
            scatter = 1.4826 * statistics.median(abs(r - middle) for r in rates) / middle if middle else 0.0
            loud = scatter > 3 * case.margin
            if scatter > case.margin:
                yield self.finding(
                    f"the tares scatter by {share(scatter)} around {number(middle)}/s",
                    severity=Severity.SUSPECT if loud and not _sliced(case, load) else Severity.NOTE,
                    load=load,
                    figures=PEAK if load is None else [*SPEED, *CPU],
                    doubt=Doubt(
                        faster=1 + scatter,
                        common=True,
                        reason="a disturbed round is so much slower than the others, and neighbouring slices share it",
                    ),
                    evidence={"tares": rates, "scatter": scatter},
                )


def _sliced(case: Case, load: str | None) -> bool:
    return all(tare.slices is not None for tare in case.tares(load))
