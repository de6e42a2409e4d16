"""Shows each ratio to the baseline with its interval during a run."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from touchstone.judge.comparison.convergence import ConvergencePoint, convergence
from touchstone.judge.statistics.decision import Decision, Interval, decide
from touchstone.judge.statistics.intervals import simultaneous
from touchstone.record.run import Plan
from touchstone.record.sample import TARE, Sample
from touchstone.report.format import ratio, ratio_interval

_FIGURE = "throughput"
_MOST = 3
"""More ratios do not fit on a line: the widest are shown, since they are what the run goes on for."""

Rounds = dict[str, dict[int, Sample]]
"""By contender and round."""


@dataclass
class ConvergenceWatcher:
    """Collects the laps of each load over all rounds."""

    plan: Plan
    _rounds: dict[str, Rounds] = field(default_factory=dict)

    def after_lap(self, samples: Sequence[Sample]) -> str:
        """Return this load's ratio after a lap, such as `: rust/plain 1.10x (1.04x to 1.17x)`.

        Empty if not yet known.
        """
        # An open loop's rate is its schedule's, and says nothing of a contender.
        if not samples or samples[0].load is None or samples[0].spec.loop == "open":
            return ""
        rounds = self._rounds.setdefault(samples[0].load, {})
        for sample in samples:
            if sample.contender not in (TARE, self.plan.twin) and sample.round is not None:
                rounds.setdefault(sample.contender, {})[sample.round] = sample
        known = sorted(self._known(rounds), key=lambda one: -math.log(one[1].high / one[1].low))
        shown = [f"{name} {ratio(i.point)} ({ratio_interval(i.low, i.high)})" for name, i, _ in known[:_MOST]]
        return ": " + ", ".join(shown) if shown else ""

    def after_round(self) -> Iterator[str]:
        """Return a line for each load in slices: the ratios, and which of them are decided."""
        for load, rounds in self._rounds.items():
            parts = []
            for name, interval, step in self._known(rounds):
                shown = f"{name} {ratio(interval.point)} ({ratio_interval(interval.low, interval.high)})"
                if step.of_rounds and decide(interval, self.plan.margin) is not Decision.OPEN:
                    shown += " decided"
                parts.append(shown)
            if parts:
                yield f"  {load}, throughput over {self.plan.baseline_among(rounds)}: {', '.join(parts)}"

    def _known(self, rounds: Rounds) -> list[tuple[str, Interval, ConvergencePoint]]:
        baseline = self.plan.baseline_among(rounds)
        if baseline is None:
            return []
        confidence = simultaneous(self.plan.confidence, max(1, len(rounds) - 1))
        found = []
        for name, own in rounds.items():
            if name == baseline:
                continue
            steps = convergence(_sound(own), _sound(rounds[baseline]), _FIGURE, confidence)
            if steps and steps[-1].known is not None:
                found.append((name, steps[-1].known, steps[-1]))
        return found


def _sound(rounds: Mapping[int, Sample]) -> dict[int, Sample]:
    return {number: sample for number, sample in rounds.items() if sample.failure is None}
