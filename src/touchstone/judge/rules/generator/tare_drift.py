"""Rule: the machine drifted during the run."""

from __future__ import annotations

from collections.abc import Iterator

import scipy

from touchstone.judge.figures import CPU, PEAK, SPEED
from touchstone.judge.judgement import Doubt, Finding, Severity
from touchstone.judge.language.quantity import share
from touchstone.judge.reading.case import Case
from touchstone.judge.reading.traffic import loop
from touchstone.judge.rule import RunRule

LEAST = 4
UNLIKELY = 0.05
RARE = 0.1


class TareDrift(RunRule):
    """Tares are the same work again and again.

    If they get slower, so did the machine, and whoever came later pays.
    """

    code = "tare-drift"
    severity = Severity.SUSPECT
    title = "The machine drifted during the run"
    threshold = (
        "the tares rise or fall with time (Kendall's tau) by more than twice the margin, p below 5 %: suspect; by "
        "more "
        "than the margin, p below 10 %: a note"
    )
    threshold_reason = (
        "ratios are taken within rounds, which cancels most of a drift; at twice the margin what is left between "
        "the first and the last of a round can reach the margin. Four tares fall in order by chance once in twelve "
        "times, so four are never enough"
    )
    next_step = (
        "Let the machine cool or warm up first; end what else runs; take more rounds, so that the order averages "
        "it out."
    )

    def look(self, case: Case) -> Iterator[Finding]:
        """Look at the run."""
        for load in case.tared:
            tares = [t for t in case.tares(load) if t.result and loop(t) == "closed"]
            rates = [t.result.rate.achieved for t in tares if t.result]
            if len(rates) < LEAST or min(rates) <= 0:
                continue
            trend = scipy.stats.kendalltau(range(len(rates)), rates)
            slope, intercept, _, _ = scipy.stats.theilslopes(rates, range(len(rates)))
            change = slope * (len(rates) - 1) / intercept if intercept > 0 else 0.0
            certain = float(trend.pvalue) < UNLIKELY
            if abs(change) > case.margin and float(trend.pvalue) < RARE:
                yield self.finding(
                    f"the tare {'rose' if change > 0 else 'fell'} by {share(abs(change))} over the run",
                    severity=Severity.SUSPECT if certain and abs(change) > 2 * case.margin else Severity.NOTE,
                    load=load,
                    figures=PEAK if load is None else [*SPEED, *CPU],
                    doubt=Doubt(
                        faster=1 + change if change > 0 else 1 / max(1e-3, 1 + change),
                        common=True,
                        reason="so much faster the machine was at its best, and neighbouring slices share it",
                    ),
                    evidence={"tares": rates, "change": change, "p": float(trend.pvalue)},
                )
