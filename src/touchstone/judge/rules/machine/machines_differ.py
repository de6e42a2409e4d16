"""Rule: the machines of a run disagree about a contender."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Iterator

from touchstone.judge.judgement import Finding, Severity
from touchstone.judge.reading.case import Case
from touchstone.judge.rule import RunRule
from touchstone.record.sample import TARE, Sample

_FIGURE = "throughput"


class MachinesDiffer(RunRule):
    """A round has one machine, so that ratios are sound on each.

    What differs between machines is shown, not averaged away.
    """

    code = "machines-differ"
    severity = Severity.NOTE
    title = "The machines of a run disagree about a contender"
    threshold = (
        "the medians of a contender's ratio to the baseline differ between machines by more than twice the margin"
    )
    threshold_reason = "two medians that are each off by the margin may lie twice the margin apart"
    next_step = "Read the machines apart: each one's own run is in `machines/` of the results' folder."

    def look(self, case: Case) -> Iterator[Finding]:
        """Look at the run."""
        for load in case.loads:
            rates: dict[int | None, dict[str, Sample]] = defaultdict(dict)
            for sample in case.run.samples:
                known = sample.contender != TARE and _FIGURE in sample.figures
                if sample.load == load and sample.placement.machine and known:
                    rates[sample.round][sample.contender] = sample
            baseline = case.run.plan.baseline_among({name for measured in rates.values() for name in measured})
            ratios: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
            for measured in rates.values():
                base = measured.get(baseline or "")
                for name, sample in measured.items():
                    if base is not None and sample is not base and base.figures[_FIGURE]:
                        ratio = sample.figures[_FIGURE] / base.figures[_FIGURE]
                        ratios[name][sample.placement.machine or ""].append(ratio)
            for name, by_machine in ratios.items():
                medians = {machine: statistics.median(values) for machine, values in by_machine.items()}
                if len(medians) > 1 and max(medians.values()) / min(medians.values()) - 1 > 2 * case.margin:
                    told = ", ".join(f"{ratio:.2f} on {machine}" for machine, ratio in sorted(medians.items()))
                    yield self.finding(
                        f"{name} has {told} times the throughput of {baseline} under {load}",
                        load=load,
                        evidence={"contender": name, "ratios": {m: list(v) for m, v in by_machine.items()}},
                    )
