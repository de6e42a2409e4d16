"""Rules on clusters: generators on several machines."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.judge.figures import SPEED
from touchstone.judge.judgement import Severity
from touchstone.judge.language.quantity import seconds, share
from touchstone.judge.reading.case import Case
from touchstone.judge.rule import Fired, on_run, on_sample
from touchstone.record.sample import Sample

_APART_S = 0.005


@on_sample(
    "generators-apart",
    Severity.SUSPECT,
    title="The load generators started at different times",
    threshold=(
        "two generators may have started more than 5 ms apart (in slices: on average), including the uncertainty of "
        "their clocks"
    ),
    threshold_reason=(
        "a round trip within a rack takes well below 1 ms, and a clock is wrong by at most half of the fastest round "
        "trip. At 5 ms either a load generator was delayed, or the network is too slow to compare clocks"
    ),
    next_step=(
        "Find out what delays the named load generator (`touchstone doctor --cluster`), or put the nodes closer "
        "together."
    ),
    tares_too=True,
)
def generators_apart(sample: Sample, case: Case) -> Iterator[Fired]:
    """While only one of two load generators sends, the server has less load than planned."""
    parts = sample.result.generators if sample.result else []
    if len(parts) < 2:
        return
    last = max(parts, key=lambda part: part.began_s + part.clock_residual_s)
    others = [part for part in parts if part is not last]
    first = min(others, key=lambda part: part.began_s - part.clock_residual_s)
    apart_s = last.began_s + last.clock_residual_s - (first.began_s - first.clock_residual_s)
    if apart_s > _APART_S:
        yield Fired(
            f"generator {last.name} may have started up to {seconds(apart_s)} after generator {first.name}",
            figures=SPEED,
            evidence={
                "apart_s": apart_s,
                "began_s": {part.name: part.began_s for part in parts},
                "clock_residual_s": {part.name: part.clock_residual_s for part in parts},
            },
        )


@on_run(
    "generators-unlike",
    Severity.NOTE,
    title="The load generators run on different kinds of machines",
    threshold="the generators of a sample differ in the model or the number of their CPUs",
    threshold_reason="this affects all contenders alike, so it is a note",
    next_step=(
        "Use machines of one kind as load generators, or check with the null server that the slowest one is fast "
        "enough."
    ),
)
def generators_unlike(case: Case) -> Iterator[Fired]:
    """All load generators send equal parts of a load, so the slowest one limits it."""
    seen: dict[tuple[str, ...], list[str]] = {}
    for sample in case.run.samples:
        kinds = {place.name: f"{len(place.cpus)} x {place.model}" for place in sample.process.placement.generators}
        if len(set(kinds.values())) > 1:
            described = tuple(f"{name}: {kind}" for name, kind in sorted(kinds.items()))
            seen.setdefault(described, []).append(sample.id)
    for described, samples in seen.items():
        yield Fired(
            f"the generators' machines are of different kinds: {'; '.join(described)}",
            evidence={"samples": samples[:10]},
        )


_JOINING_BUSY_CPUS = 0.5


@on_sample(
    "joining-busy",
    Severity.SUSPECT,
    title="Ray used much of a CPU of the server's machine",
    threshold="Ray's processes on the server's machine used more than half of a CPU during the load",
    threshold_reason=(
        "when idle, Ray's processes and the engine each use a few hundredths of a CPU. Above half a CPU, too little "
        "may be left for the engine"
    ),
    next_step=(
        "Find out which other jobs the cluster runs (`touchstone doctor --cluster`), and use the cluster for this "
        "benchmark only."
    ),
    tares_too=True,
)
def joining_busy(sample: Sample, case: Case) -> Iterator[Fired]:
    """On a cluster, the engine that watches the server shares one CPU with Ray.

    If that CPU is full, memory and CPU of the server are read late, and the excess work goes to the server's CPUs.
    """
    result = sample.result
    if result is None or result.joining_cpu_s is None:
        return
    elapsed = result.window.whole_s
    if elapsed and result.joining_cpu_s / elapsed > _JOINING_BUSY_CPUS:
        used = result.joining_cpu_s / elapsed
        yield Fired(
            f"Ray and the processes that connect the machines used {share(used)} of a CPU on the server's machine",
            figures=SPEED,
            evidence={"joining_cpu_s": result.joining_cpu_s, "elapsed_s": elapsed},
        )
