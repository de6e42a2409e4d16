"""Rule: the trials of a round did not settle the capacity."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.judge.judgement import Doubt, Finding, Severity
from touchstone.judge.language.quantity import number, share
from touchstone.judge.reading.case import Case
from touchstone.judge.rule import SampleRule
from touchstone.record.sample import Sample


class CapacityUncertain(SampleRule):
    """Where the same rate holds and fails by turns over a wide stretch, the knee is a band and no point."""

    code = "capacity-uncertain"
    severity = Severity.SUSPECT
    title = "The trials of a round did not settle the capacity"
    threshold = "the trials were used up while the interval of the round was still wider than twice the margin"
    threshold_reason = (
        "a round's value is then uncertain by more than the least difference that matters; the comparison is widened "
        "by the round's own interval"
    )
    next_step = "End what else runs, or take a longer profile: longer trials tell a knee from a bad moment."
    phases = ("capacity",)

    def look(self, sample: Sample, case: Case) -> Iterator[Finding]:
        """Look at one search."""
        found, rate = sample.capacity, sample.figures.get("capacity")
        if found is None or rate is None or found.ended != "trials" or not found.low or not found.high:
            return
        width = found.high / found.low - 1
        if width <= 2 * case.margin:
            return
        void = sum(trial.void == "others" for trial in found.trials)
        told = f"; {void} of them are void, for others had the CPUs" if void else ""
        yield self.finding(
            f"after {len(found.trials)} trials the capacity lies between {number(found.low)} and "
            f"{number(found.high)}/s, {share(width)} apart{told}",
            sample=sample,
            figures=["capacity"],
            doubt=Doubt(
                faster=max(1.0, found.high / rate),
                slower=max(1.0, rate / found.low),
                reason="that is how far the round's own interval reaches",
            ),
            evidence={"low": found.low, "high": found.high, "trials": len(found.trials), "void": void},
        )
