"""The verify phase: the whole contract, before anything is timed."""

from __future__ import annotations

from typing import ClassVar

from touchstone.bench.base import Bench, attempt, blank_sample
from touchstone.bench.engaged import engaged
from touchstone.contract.checker import Checker, askable
from touchstone.manifest.catalogue import Contender
from touchstone.phase.base import Phase
from touchstone.record.sample import Sample
from touchstone.vocabulary.phase import PHASES, PhaseKind


class VerifyPhase(Phase):
    """Checks that a contender does the scenario's work. One that does not is not timed."""

    kind: ClassVar[PhaseKind] = PHASES["verify"]

    def measure(self, bench: Bench, contender: Contender, round_number: int | None, position: int) -> list[Sample]:
        """Carry out every check of the contract on a freshly started contender, or one that runs already."""
        sample = blank_sample(bench, self.kind.name, contender.name)

        def action(sample: Sample) -> None:
            bench.watcher.step(f"checking {contender.name}")
            with engaged(bench, contender, sample) as found:
                checks, left_out = askable(bench.scenario.contract, found.dependencies)
                sample.left_out += left_out
                sample.checks = Checker(found.service, found.dependencies, bench.seed).run(checks)

        return [attempt(sample, action, bench.store.logs / f"{sample.id}.log")]
