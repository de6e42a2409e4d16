"""What goes before the loads, tried once: a login that fails is known before anything is timed."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from touchstone.bench.base import Bench
from touchstone.bench.readiness import request_passes
from touchstone.bench.running_contender import RunningContender, running_contender
from touchstone.contract.checker import ContractChecker
from touchstone.isolation.process import StartError
from touchstone.manifest.catalogue import Contender
from touchstone.manifest.contract import Check
from touchstone.manifest.load import Load
from touchstone.phase.load.reach import out_of_reach
from touchstone.record.sample import CheckOutcome, Sample
from touchstone.traffic.prepare import PrepareError, prepare_once


def try_preparations(bench: Bench, contender: Contender, sample: Sample) -> list[CheckOutcome]:
    """Prepare a contender as each load does, then send its requests, each on a fresh start.

    Loads that are prepared alike are tried together.
    """
    outcomes = []
    for names in _prepared_alike(bench):
        first = bench.loads[names[0]]
        loads = [bench.loads[name] for name in names]
        sent = [steps for load in loads if not load.error_allowance for steps in request_passes(load)]
        check = Check(id=f"load-{names[0]}", says=_says(names), steps=[*first.prepare, *chain.from_iterable(sent)])
        try:
            with running_contender(bench, contender, sample.process.model_copy(deep=True), under=first) as found:
                checker = ContractChecker(found.service, found.dependencies, bench.seed)
                outcomes.append(checker.check(check, cookies=any(load.journeys for load in loads)))
        except StartError as error:
            # Under the load's limits it may not start; the load itself will say so.
            sample.left_out.append(f"what goes before {', '.join(names)} was not tried: {error.what}")
    return outcomes


def prepare_for_all(bench: Bench, contender: Contender, found: RunningContender, sample: Sample) -> list[CheckOutcome]:
    """Prepare a service that outlives the run for all loads, once: the loads take what was captured."""
    outcomes = []
    checker = ContractChecker(found.service, found.dependencies, bench.seed)
    for names in _prepared_alike(bench):
        load = bench.loads[names[0]]
        if out_of_reach(contender, load):
            continue
        outcome = CheckOutcome(id=f"load-{names[0]}", says=_says(names), passed=True, broken=[])
        try:
            prepare_once(bench, contender.name, checker, load, sample)
        except PrepareError as error:
            outcome = outcome.model_copy(update={"passed": False, "broken": [error.broken]})
        outcomes.append(outcome)
    return outcomes


def _prepared_alike(bench: Bench) -> Iterator[list[str]]:
    """Names of loads with a preparation, grouped by equal preparation and settings."""
    groups: dict[str, list[str]] = {}
    for name, load in bench.loads.items():
        if load.prepare:
            groups.setdefault(_key(load), []).append(name)
    yield from groups.values()


def _key(load: Load) -> str:
    return load.model_dump_json(include={"prepare", "dependency_settings", "memory_limit_mb", "cpus"})


def _says(names: list[str]) -> str:
    what = ", ".join(names)
    return f"what goes before the load{'s' if len(names) > 1 else ''} {what} is answered"
