"""The verify phase: the whole contract, before anything is timed."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import ClassVar

from touchstone.bench.base import Bench, sampling
from touchstone.bench.readiness import ask_first
from touchstone.bench.running_contender import running_contender
from touchstone.bench.service import StartedService
from touchstone.contract.checker import ContractChecker, askable
from touchstone.isolation.process import StartError
from touchstone.manifest.catalogue import Contender
from touchstone.manifest.spoken import SpokenProtocol
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
        """Check the whole contract on a fresh contender, or on one that already runs.

        One that holds is asked what the loads ask, too, and prepared as they are: a wrong path and a login that
        fails are known before anything is timed.
        """
        with sampling(bench, "verify", contender.name) as sample:
            for spoken, part in _by_spoken(bench, contender):
                if not _hold(sample.checks):
                    break
                checks = self._checked(part, contender, sample)
                sample.checks += checks if spoken == bench.scenario.spoken else _over(spoken, checks, sample.checks)
        return [sample]

    def _checked(self, bench: Bench, contender: Contender, sample: Sample) -> list[CheckOutcome]:
        """The outcomes in one protocol: of the contract, of what the loads ask, and of what goes before them."""
        bench.watcher.step(f"checking {contender.name} over {bench.scenario.spoken}")
        with running_contender(bench, contender, sample.process) as found:
            contract, left_out = askable(bench.scenario.contract_over(bench.scenario.protocol), found.dependencies)
            sample.left_out += [sentence for sentence in left_out if sentence not in sample.left_out]
            checker = ContractChecker(found.service, found.dependencies, bench.seed)
            checks = checker.run(contract)
            # One that outlives the run would hold the load's first new name already.
            asks = _hold(checks) and not found.outlives_rounds
            asked = ask_first(checker, bench) if asks else []
            if found.outlives_rounds and _hold(checks):
                asked = ask_first(checker, bench, outlives=True)
                if _hold(asked):
                    asked += prepare_for_all(bench, contender, found, sample)
            # A stop speaks HTTP/1.1.
            if asks and isinstance(found, StartedService) and bench.scenario.protocol == "h1":
                requests = plain_requests(bench.scenario)
                sample.process.ending = end_with_clients(found, requests, bench.seed)
        if asks and not _hold(asked):
            # What a check of the contract has changed or taken away is there again behind a fresh start.
            with running_contender(bench, contender, sample.process) as found:
                checker = ContractChecker(found.service, found.dependencies, bench.seed)
                asked = ask_first(checker, bench)
                for _ in range(_MORE):
                    if _hold(asked):
                        break
                    time.sleep(_APART_S)
                    asked = ask_first(checker, bench)
        checks += asked
        if asks and _hold(asked):
            checks += try_preparations(bench, contender, sample)
        return checks


def _by_spoken(bench: Bench, contender: Contender) -> Iterator[tuple[SpokenProtocol, Bench]]:
    """What is spoken with the contender, the scenario's own first; with the loads that speak it. Raises StartError."""
    scenario, speaks, outside = bench.scenario, contender.stack.speaks, contender.outside
    spoken = [
        one
        for one in dict.fromkeys([scenario.spoken, *(load.spoken for load in bench.loads.values())])
        if (not speaks or one.label in speaks) and (outside is None or outside.tls == one.tls)
    ]
    if not spoken:
        raise StartError(
            f"it speaks none of the scenario's protocols: the scenario asks over {scenario.spoken}",
            fix="correct `speaks` in stack.toml, or the URL; or `protocol` and `tls` in scenario.toml",
        )
    for one in spoken:
        loads = {name: load for name, load in bench.loads.items() if load.spoken == one}
        yield one, replace(bench.speaking(one), loads=loads)


def _over(
    spoken: SpokenProtocol, checks: Sequence[CheckOutcome], earlier: Sequence[CheckOutcome]
) -> list[CheckOutcome]:
    """The outcomes, with a protocol in their names. A number follows where `earlier` ones have that name."""
    taken, over = {check.id for check in earlier}, spoken.label
    names = itertools.chain([str(over)], (f"{over}-{number}" for number in itertools.count(2)))
    suffix = next(name for name in names if taken.isdisjoint(f"{check.id}-{name}" for check in checks))
    return [
        check.model_copy(update={"id": f"{check.id}-{suffix}", "says": f"{check.says}, over {spoken}"})
        for check in checks
    ]


def _hold(checks: Sequence[CheckOutcome]) -> bool:
    return all(check.passed for check in checks)
