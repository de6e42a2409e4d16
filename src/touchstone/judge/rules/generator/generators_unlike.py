"""Rule: generators are machines of different kinds."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.judge.judgement import Finding, Severity
from touchstone.judge.reading.case import Case
from touchstone.judge.rule import RunRule


class GeneratorsUnlike(RunRule):
    """Each generator has an equal part of a load, so that the slowest one is the load's limit."""

    code = "generators-unlike"
    severity = Severity.NOTE
    title = "Generators are machines of different kinds"
    threshold = "the generators of a sample differ in the model or the number of their CPUs"
    threshold_reason = "a plain fact, true for all contenders alike; so it is a note"
    next_step = "Give the role to machines of one kind, or see by the tare that the slowest one is fast enough."

    def look(self, case: Case) -> Iterator[Finding]:
        """Look at the run."""
        seen: dict[tuple[str, ...], list[str]] = {}
        for sample in case.run.samples:
            kinds = {place.name: f"{len(place.cpus)} x {place.model}" for place in sample.placement.generators}
            if len(set(kinds.values())) > 1:
                told = tuple(f"{name}: {kind}" for name, kind in sorted(kinds.items()))
                seen.setdefault(told, []).append(sample.id)
        for told, samples in seen.items():
            yield self.finding(f"generators differ: {'; '.join(told)}", evidence={"samples": samples[:10]})
