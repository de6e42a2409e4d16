"""What the records of an honest run have in common: counts, times, orders and machines that agree with each other.

Hashes show that a file was changed after it was made. A forger who edits records and makes new hashes is found by
the records themselves, since each fact of a run is in several of them.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator
from datetime import timedelta
from itertools import pairwise
from typing import Any

from touchstone.bundle.loads import load_contradictions
from touchstone.bundle.machine import machine_contradictions
from touchstone.bundle.turns import turn_contradictions
from touchstone.record.load_spec import LoadSpec
from touchstone.record.run import Run
from touchstone.record.sample import TARE, Sample
from touchstone.vocabulary.phase import PHASES

_CLOCKS = timedelta(seconds=2)
"""Two clocks may differ by this, and the end of a run is written after its last sample."""


def contradictions(run: Run) -> list[str]:
    """Contradictions between a run's records, a sentence each. Empty for an honest run."""
    found: list[str] = []
    for check in (_orders, _names, _numbers, _rounds, _times, machine_contradictions, _processes, _contracts):
        found += check(run)
    for sample in run.samples:
        found += [f"{sample.id}: {what}" for what in load_contradictions(sample)]
    found += turn_contradictions(run)
    return found


def _orders(run: Run) -> Iterator[str]:
    """The order of each round is drawn from the seed."""
    plan = run.plan
    if plan.rounds != len(plan.orders):
        yield f"plan.json: {plan.rounds} rounds, and orders of {len(plan.orders)}"
    if not plan.orders:
        return
    planned = [c.name for c in plan.contenders if c.not_measured is None]
    names = [*planned, *(name for name in plan.orders[0] if name not in planned)]
    dice = random.Random(plan.seed)
    for number, order in enumerate(plan.orders, 1):
        drawn = dice.sample(names, len(names))
        later = random.Random(f"{plan.seed}-{number}").sample(sorted(names), len(names))
        if order not in (drawn, later):
            yield f"plan.json: the order of round {number} is not the one that the seed {plan.seed} gives"


def _names(run: Run) -> Iterator[str]:
    """Samples are of the plan's scenario, contenders, loads and phases."""
    plan = run.plan
    alike: dict[str, LoadSpec] = {}
    known = {c.name for c in plan.contenders} | {TARE} | {name for order in plan.orders for name in order}
    for sample in run.samples:
        if (sample.scenario, sample.scenario_version) != (plan.scenario, plan.scenario_version):
            yield f"{sample.id}: it is of {sample.scenario} version {sample.scenario_version}, which the plan is not"
        if sample.contender not in known:
            yield f"{sample.id}: the plan has no contender {sample.contender!r}"
        if sample.phase not in (*plan.phases, "build", "verify"):
            yield f"{sample.id}: the plan has no phase {sample.phase!r}"
        spec = plan.load_specs.get(sample.load or "")
        if sample.phase == "load" and spec is not None and not _states(spec.model_dump(), sample.spec.model_dump()):
            yield f"{sample.id}: its load is not the one that the plan states under {sample.load!r}"
        if sample.phase == "load" and sample.load and alike.setdefault(sample.load, sample.spec) != sample.spec:
            yield f"{sample.id}: its load is not the one that other samples of {sample.load!r} had"
        named = "-".join(sample.id.split("-")[1:])
        load = f"-{sample.load}" if sample.load else ""
        number = f"-r{sample.round:02d}" if sample.round is not None else ""
        if named != f"{sample.phase}-{sample.contender.replace('/', '.')}{load}{number}":
            yield f"{sample.id}: its name is not that of {sample.phase}, {sample.contender}, round {sample.round}"
        if sample.process.contender not in ("", sample.contender):
            yield f"{sample.id}: its process is one of {sample.process.contender}"


def _states(planned: Any, measured: Any) -> bool:
    """Whether a load holds all that the plan states of it. Plans of earlier versions omit defaults."""
    if isinstance(planned, dict) and isinstance(measured, dict):
        return all(_states(value, measured.get(key)) for key, value in planned.items())
    if isinstance(planned, list | tuple) and isinstance(measured, list | tuple):
        return len(planned) == len(measured) and all(map(_states, planned, measured))
    return bool(planned == measured)


def _numbers(run: Run) -> Iterator[str]:
    """Samples and processes are numbered as they come: a number that nothing has is one that was taken away."""
    numbers = sorted({number for s in run.samples for number in _numbered(s)})
    lost = sorted(set(range(1, numbers[-1] + 1)) - set(numbers)) if numbers else []
    if lost and not any(s.failure for s in run.samples) and run.ended_at and not _weighed(lost, run):
        yield f"the numbers {', '.join(map(str, lost))} are of no sample and no process: samples are missing"
    twice = [s.id for s in run.samples if sum(o.id.split("-")[0] == s.id.split("-")[0] for o in run.samples) > 1]
    if twice:
        yield f"{', '.join(twice)}: two samples have one number"


def _numbered(sample: Sample) -> Iterator[int]:
    for name in (sample.id, sample.process.id):
        number = name.split("-")[0]
        if number.isdigit():
            yield int(number)


def _weighed(lost: list[int], run: Run) -> bool:
    """Whether the missing numbers are of processes started before the first round, to see their memory."""
    rounds = [n for s in run.samples if s.round is not None for n in _numbered(s)]
    return bool(rounds) and lost[-1] < min(rounds) and len(lost) <= len(run.plan.contenders)


def _rounds(run: Run) -> Iterator[str]:
    """Each contender that is measured in slices or whole windows is so in every round."""
    if run.interrupted or "load" not in run.plan.phases:
        return
    measured: dict[tuple[str, str], set[int]] = defaultdict(set)
    for sample in run.samples:
        if sample.phase == "load" and sample.load and sample.round:
            measured[sample.contender, sample.load].add(sample.round)
    for (contender, load), rounds in measured.items():
        lacking = set(range(1, run.plan.rounds + 1)) - rounds
        beyond = {number for number in rounds if number > run.plan.rounds + (contender == TARE)}
        if lacking and contender != run.plan.twin:
            yield f"{contender}, {load}: there is no sample of round {min(lacking)}"
        if beyond:
            yield f"{contender}, {load}: a sample of round {max(beyond)}, and the plan has {run.plan.rounds}"
    for sample in run.samples:
        if (
            sample.contender != TARE
            and sample.round
            and PHASES[sample.phase].per_round
            and sample.round <= run.plan.rounds
        ):
            order = run.plan.orders[sample.round - 1]
            if (
                sample.phase != "load"
                and sample.contender in order
                and order.index(sample.contender) != sample.position
            ):
                yield f"{sample.id}: its place in the round is {sample.position}, and the plan's order says otherwise"


def _times(run: Run) -> Iterator[str]:
    """A sample begins and ends within the run, and rounds follow each other."""
    for sample in run.samples:
        ended = sample.started_at + timedelta(seconds=sample.took_s)
        if sample.started_at < run.started_at - _CLOCKS or (run.ended_at and ended > run.ended_at + _CLOCKS):
            yield f"{sample.id}: it was measured outside the time of the run"
        window = sample.result.window if sample.result else None
        if window and window.start_unix_s and not _within(window.start_unix_s, window.measured_s, sample):
            yield f"{sample.id}: its load began outside the time of the sample"
    by_round: dict[int, list[Sample]] = defaultdict(list)
    for sample in run.samples:
        if sample.round and sample.contender != TARE:
            by_round[sample.round].append(sample)
    rounds = sorted(by_round)
    for before, after in pairwise(rounds):
        if min(s.started_at for s in by_round[after]) < min(s.started_at for s in by_round[before]):
            yield f"round {after} began before round {before}"


def _within(start_unix_s: float, measured_s: float, sample: Sample) -> bool:
    begin = sample.started_at.timestamp() - _CLOCKS.total_seconds()
    return begin <= start_unix_s and start_unix_s + measured_s <= begin + sample.took_s + 2 * _CLOCKS.total_seconds()


def _processes(run: Run) -> Iterator[str]:
    """One process has one record, and a contender runs the same files in every round."""
    by_id: dict[str, Sample] = {}
    files: dict[str, dict[str, str]] = {}
    for sample in run.samples:
        process = sample.process
        if process.id and by_id.setdefault(process.id, sample).process.artifacts != process.artifacts:
            yield f"{sample.id}: its process ran other files than in {by_id[process.id].id}"
        if process.artifacts and sample.contender != TARE:
            known = files.setdefault(sample.contender, process.artifacts)
            for name in known.keys() & process.artifacts.keys():
                if known[name] != process.artifacts[name]:
                    yield f"{sample.id}: {name} is not the file that {sample.contender} was first measured with"
        tools = next((c.tools for c in run.plan.contenders if c.name == sample.contender), {})
        for name, version in (sample.build.tools if sample.build else {}).items():
            if name in tools and version not in tools[name]:
                yield f"{sample.id}: built with {name} {version}, and planned with {tools[name]}"


def _contracts(run: Run) -> Iterator[str]:
    """A check that passed shows no exchange that breaks it."""
    for sample in run.samples:
        for check in (*sample.checks, *sample.checks_in_load):
            if check.passed and check.broken:
                yield f"{sample.id}: the check {check.id!r} passed, with an exchange that breaks it"
        for proof in sample.proofs:
            if (
                proof.passed
                and proof.expected is not None
                and isinstance(proof.found, int | float) != isinstance(proof.expected, int | float)
            ):
                yield f"{sample.id}: a proof passed that found {proof.found!r} where {proof.expected!r} was expected"
