"""Searches for a capacity, for tests of the judge: a run of them, with their trials."""

from __future__ import annotations

from touchstone.record.evidence.capacity import CapacityEvidence, CapacityTrial, Ended
from touchstone.record.run import Run
from touchstone.record.sample import TARE, Sample

from .sound import first_load, sound_run


def trial(rate: float, held: bool | None, *, why: str = "", busy: float = 0.97) -> CapacityTrial:
    """A trial of two seconds."""
    late = 0.008 if held else 0.2
    return CapacityTrial(
        rate=rate,
        seconds=2.0,
        purpose="search",
        held=held,
        why=why or ("" if held else "p99 was 200 ms"),
        sent=int(2 * rate),
        achieved=rate if held else 0.9 * rate,
        latency={"p50": late / 4, "p99": late},
        backlog=0.0 if held else 0.08,
        cpu_per_request=40e-6,
        server_busy=min(1.0, busy),
        generator_busy=0.4,
    )


def search(
    rate: float | None, ended: Ended = "found", *, tare: float = 60_000.0, width: float = 0.02
) -> CapacityEvidence:
    """A search that ended at a rate."""
    known = rate or 100.0
    trials = [trial(0.5 * known, True), trial(0.98 * known, True), trial(1.02 * known, False)]
    if rate is None:
        trials = [trial(known, False)]
    return CapacityEvidence(
        objective="p99 < 50ms, errors < 0.1%",
        bounds={"p99": 0.05, "errors": 0.001},
        low=rate and known * (1 - width / 2),
        high=rate and known * (1 + width / 2),
        ended=ended,
        lowest=100.0,
        tare=tare,
        trials=trials,
    )


def capacity_sample(contender: str, number: int, rate: float | None, found: CapacityEvidence) -> Sample:
    """One contender's search in a round."""
    sample = first_load(sound_run()).model_copy(deep=True)
    sample.id, sample.phase = f"capacity-{contender}-{number}", "capacity"
    sample.contender, sample.round = contender, number
    sample.proofs, sample.not_measured, sample.remarks = [], {}, {}
    sample.figures = {} if rate is None else {"capacity": rate}
    sample.evidence = found
    return sample


def capacity_run(rates: dict[str, list[float]]) -> Run:
    """A run of nothing but searches: contenders with their capacity in each round, and a tare far above."""
    rounds = max(len(values) for values in rates.values())
    run = sound_run(contenders=dict.fromkeys(rates, 10_000.0), rounds=rounds)
    run.samples = [sample for sample in run.samples if sample.phase != "load"]
    for name, values in (rates | {TARE: [60_000.0] * rounds}).items():
        run.samples += [capacity_sample(name, n, rate, search(rate)) for n, rate in enumerate(values, 1)]
    run.plan.phases = ["build", "boot", "verify", "capacity"]
    return run


def with_search(found: CapacityEvidence, rate: float | None) -> Run:
    """A run whose first contender's first search ended like this."""
    run = capacity_run({"go/std": [9_000.0, 9_050.0, 8_990.0], "rust/std": [12_000.0, 12_080.0, 12_010.0]})
    place = next(i for i, s in enumerate(run.samples) if s.phase == "capacity")
    run.samples[place] = capacity_sample("go/std", 1, rate, found)
    return run
