"""Puts slices into a sound run, as the lab records them: what each lap's value was is the test's to say."""

from __future__ import annotations

import random
from collections.abc import Callable

from tests.judge.sound import sound_run
from touchstone.record.evidence.load import LoadEvidence
from touchstone.record.evidence.slices import Generations, Slice, SliceLatency, SlicesEvidence, WarmUp
from touchstone.record.run import Run
from touchstone.record.sample import TARE, Sample

SLICE_S = 0.25
CPU_PER_REQUEST = 30e-6

Machine = Callable[[int, int], float]
"""By round and lap: how fast the machine is in it, 1 if as usual."""


def sliced_run(
    rates: dict[str, float],
    *,
    rounds: int = 5,
    laps: int = 12,
    noise: float = 0.01,
    luck: float = 0.0,
    machine: Machine = lambda _round, _lap: 1.0,
    seed: int = 11,
) -> Run:
    """A run in slices: `noise` is by slice, `luck` by process, `machine` by lap for all alike."""
    run = sound_run(contenders=rates, rounds=rounds, noise=0.0)
    dice = random.Random(seed)
    for sample in run.samples:
        if sample.phase == "load" and sample.result is not None and sample.round is not None:
            rate = rates.get(sample.contender, sample.result.rate.achieved) * dice.lognormvariate(0, luck)
            pace = [rate * machine(sample.round, lap) * dice.lognormvariate(0, noise) for lap in range(laps)]
            put_slices(sample, pace)
    return run


def put_slices(sample: Sample, rates: list[float], warm_up: WarmUp | None = None) -> None:
    """Give a load's sample one measured slice for each rate; all together are as fast as the sample says."""
    achieved = sample.result.rate.achieved if sample.result else 0.0
    warm_up = warm_up or WarmUp(ended="flat", seconds=3.0, requests=60_000, growth=0.0)
    slices = [
        Slice(
            index=lap,
            lap_phase="load",
            begin=lap * 1.0,
            sending_end=lap * 1.0 + SLICE_S,
            end=lap * 1.0 + SLICE_S,
            sent=round(rate * SLICE_S),
            completed=round(rate * SLICE_S),
            ok=round(rate * SLICE_S),
            generations=Generations(responses=round(rate * SLICE_S), seconds=rate * SLICE_S / (achieved or rate)),
            rate=rate,
            latency=SliceLatency(count=round(rate * SLICE_S), p50=64 / rate, p99=3 * 64 / rate),
            server_cpu_s=CPU_PER_REQUEST * round(rate * SLICE_S),
            lap=lap,
        )
        for lap, rate in enumerate(rates)
    ]
    evidence = SlicesEvidence(order=[sample.contender], slice_s=SLICE_S, warm_up=warm_up, slices=slices)
    sample.evidence = LoadEvidence(result=sample.result, slices=evidence)


EQUAL_RATES = {"go/plain": 10_000.0, "rust/plain": 10_000.0}
OWN_S = CPU_PER_REQUEST * 10_000 * SLICE_S
"""CPU of a contender of `EQUAL_RATES` in a slice of its own."""


def resting_run(used: Callable[[str], float], *, own_cpus: float = OWN_S / SLICE_S) -> Run:
    """A run in slices in which each contender used a share of its own CPU while the neighbour and the tare were on.

    Half of it fell into the slices of each. `own_cpus` is what each used for its own requests.
    """
    run = sliced_run(EQUAL_RATES, noise=0.0)
    names = list(EQUAL_RATES)
    own_s = own_cpus * SLICE_S
    for sample in run.samples:
        if sample.slices is None or sample.phase != "load":
            continue
        sample.slices.order = [*names, TARE]
        for one in sample.slices.slices:
            one.server_cpu_s = own_s
            others = [None if name == sample.contender else own_s * used(name) / 2 for name in names]
            one.others_cpu_s = [*others, None]
    return run


def given_away_run(used: Callable[[int], float], *, off: float = 0.0, own_cpus: float = OWN_S / SLICE_S) -> Run:
    """A run in slices in which rust/plain used these CPUs in each of go/plain's slices, and `off` in the tare's."""
    run = resting_run(lambda _name: 0.0, own_cpus=own_cpus)
    rust = list(EQUAL_RATES).index("rust/plain")
    for sample in run.samples:
        for one in sample.slices.slices if sample.slices is not None else []:
            assert one.others_cpu_s is not None
            if sample.contender != "rust/plain":
                one.others_cpu_s[rust] = SLICE_S * (off if sample.contender == TARE else used(one.lap or 0))
    return run


def steal(run: Run, share: float, contenders: tuple[str, ...]) -> Run:
    """Let the host take a share of the CPUs from these contenders' windows."""
    for sample in run.samples:
        if sample.contender in contenders and sample.result is not None:
            sample.result.machine.steal_s = share * sample.result.window.measured_s * run.environment.cpus
    return run
