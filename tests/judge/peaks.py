"""Starts under load for tests of the judge: rates by half seconds, and a run of them."""

from __future__ import annotations

import random
from collections.abc import Sequence

from touchstone.record.engine import Point
from touchstone.record.evidence.peak import PeakEvidence
from touchstone.record.run import Run
from touchstone.record.sample import TARE, Sample

from .sound import load_result, load_sample, sound_run

STEP = 0.5


def rates(*levels: tuple[float, float]) -> list[float]:
    """A rate for each half second, from levels given as seconds and rate."""
    return [rate for seconds, rate in levels for _ in range(round(seconds / STEP))]


def peak_sample(contender: str, round_: int, by_half_second: Sequence[float], begins: float = 0.0) -> Sample:
    """A start whose load begins so long after exec, with these rates from then on."""
    rng = random.Random(round_)
    seconds = len(by_half_second) * STEP
    mean = sum(by_half_second) / len(by_half_second)
    result = load_result(mean, seconds=seconds, rng=rng, server_busy=0.99)
    noisy = [rate * rng.lognormvariate(0, 0.01) for rate in by_half_second]
    result.series = [Point(t=(i + 1) * STEP, ok=round(r * STEP), connections=64) for i, r in enumerate(noisy)]
    within = begins + seconds
    total, served = 0.0, []
    for second in range(1, int(within) + 1):
        total = sum(p.ok * min(1.0, max(0.0, (second - (begins + p.t - STEP)) / STEP)) for p in result.series)
        served.append(int(total))
    sample = load_sample(contender, round_, result)
    sample.id, sample.phase, sample.load = f"peak-{contender}-{round_}", "peak", None
    sample.evidence = PeakEvidence(
        load="lookup", within_s=within, ready_s=begins, load_begins_s=begins, served=served, result=result
    )
    sample.figures = {"peak_served": float(served[-1])}
    return sample


def peak_run(starts: dict[str, list[Sample]]) -> Run:
    """A run whose rounds hold these starts and nothing else."""
    rounds = max(len(samples) for samples in starts.values())
    run = sound_run(contenders=dict.fromkeys(starts, 10_000.0), rounds=rounds)
    tares = [s for s in run.samples if s.contender == TARE]
    for tare in tares:
        tare.phase, tare.load = "peak", None
        tare.figures = {"peak_rate": tare.figures["throughput"]}
    kept = [s for s in run.samples if s.phase != "load"]
    run.samples = [*kept, *(s for samples in starts.values() for s in samples)]
    run.plan.phases, run.plan.loads = ["build", "boot", "verify", "peak"], []
    return run
