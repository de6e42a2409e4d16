"""The verify phase: the whole contract, before anything is timed."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import ClassVar

from touchstone.bench.base import Bench, sampling
from touchstone.bench.engaged import engaged
from touchstone.bench.readiness import ask_first
from touchstone.bench.service import Running
from touchstone.contract.checker import Checker, askable
from touchstone.manifest.catalogue import Contender
from touchstone.phase.base import Phase
from touchstone.phase.verify.ending import end_with_clients, plain_requests
from touchstone.phase.verify.preparations import prepare_for_all, try_preparations
from touchstone.record.sample import CheckOutcome, Sample
from touchstone.vocabulary.phase import PHASES, PhaseKind

_MORE, _APART_S = 3, 1.0
"""A service that answers a load's requests only some seconds after its first response: `ready-too-early` is another
rule's matter."""


class VerifyPhase(Phase):
    """Checks that a contender does the scenario's work. One that does not is not timed."""

    kind: ClassVar[PhaseKind] = PHASES["verify"]
    outside: ClassVar[bool] = True

    def stage(self, contenders: Sequence[Contender]) -> str:
        """See Phase."""
        return "checking the contract"

    def measure(self, bench: Bench, contender: Contender, round_number: int | None, position: int) -> list[Sample]:
        """Carry out every check of the contract on a freshly started contender, or one that runs already.

        One that holds is asked what the loads ask, too, and prepared as they are: a wrong path and a login that
        fails are known before anything is timed.
        """
        with sampling(bench, "verify", contender.name) as sample:
            bench.watcher.step(f"checking {contender.name}")
            with engaged(bench, contender, sample.process) as found:
                checks, left_out = askable(bench.scenario.contract, found.dependencies)
                sample.left_out += left_out
                checker = Checker(found.service, found.dependencies, bench.seed)
                sample.checks = checker.run(checks)
                # One that outlives the run would hold the load's first new name already.
                asks = _hold(sample.checks) and not found.outlives_rounds
                asked = ask_first(checker, bench) if asks else []
                if found.outlives_rounds and _hold(sample.checks):
                    asked = ask_first(checker, bench, outlives=True)
                    if _hold(asked):
                        asked += prepare_for_all(bench, contender, found, sample)
                if asks and isinstance(found, Running):
                    requests = plain_requests(bench.scenario)
                    sample.process.ending = end_with_clients(found, requests, bench.seed)
            if asks and not _hold(asked):
                # What a check of the contract has changed or taken away is there again behind a fresh start.
                with engaged(bench, contender, sample.process) as found:
                    checker = Checker(found.service, found.dependencies, bench.seed)
                    asked = ask_first(checker, bench)
                    for _ in range(_MORE):
                        if _hold(asked):
                            break
                        time.sleep(_APART_S)
                        asked = ask_first(checker, bench)
            sample.checks += asked
            if asks and _hold(asked):
                sample.checks += try_preparations(bench, contender, sample)
        return [sample]


def _hold(checks: Sequence[CheckOutcome]) -> bool:
    return all(check.passed for check in checks)
