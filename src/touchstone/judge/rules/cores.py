"""Rules on the CPUs of the machine: their speed, their number, their quota, and other users of them."""

from __future__ import annotations

import math
import re
import statistics
from collections.abc import Iterator

import numpy as np

from touchstone.judge.figures import CPU, SPEED
from touchstone.judge.judgement import PossibleBias, Severity
from touchstone.judge.language.quantity import number, seconds, share
from touchstone.judge.reading.case import Case
from touchstone.judge.reading.core import CoreLap, core_laps
from touchstone.judge.reading.disturbance import others_share, stolen_share
from touchstone.judge.reading.machine_state import machine_state
from touchstone.judge.reading.traffic import loop
from touchstone.judge.rule import Fired, on_run, on_sample
from touchstone.record.engine import Machine
from touchstone.record.sample import TARE, Sample
from touchstone.vocabulary.limits import OTHERS, THROTTLED

_BEST = 5
"""The percentile of what the work of reference took that stands for a core left alone: the least one is luck."""
_LOST = 0.15
_NAMED = 4


@on_run(
    "core-slowed",
    Severity.NOTE,
    title="The core was slower than its best",
    threshold=(
        "a contender would have answered at least 15 % more requests if its core had always been as fast as in the "
        "fastest 5 % of the load's slices. touchstone measures the speed of the core by a fixed piece of work. From "
        "all slices it estimates how the contender's rate depends on that speed. The rule does not fire if other "
        "processes used more than 10 % of the machine's CPU, because their use changes together with the core's speed"
    ),
    threshold_reason="up to 10 % is normal on a quiet virtual machine",
    next_step=(
        "The contenders are not at fault. If the estimated gain differs between contenders, their ratio is different "
        "on a quiet host. Measure again on a quiet host or at another time of day."
    ),
)
def core_slowed(case: Case) -> Iterator[Fired]:
    """A service slows down if another program uses its core's hyperthread or caches.

    A service that reads much memory slows down more than others. The ratio of two services may then be different on a
    quiet machine.
    """
    for load in case.loads:
        sliced = [s for s in case.run.samples if (s.phase, s.load) == ("load", load) and loop(s) == "closed"]
        laps = {sample.id: core_laps(sample) for sample in sliced}
        known = [lap.work for one in laps.values() for lap in one]
        if not known or any((others_share(s, case.run.environment.cpus) or 0.0) > OTHERS for s in sliced):
            continue
        best = float(np.percentile(known, _BEST))
        gains: dict[str, float] = {}
        for name in dict.fromkeys(s.contender for s in sliced if s.contender != TARE):
            own = [sample for sample in sliced if sample.contender == name]
            if (slope := case.core_slopes.get(("load", load, name))) is not None:
                gains[name] = math.expm1(-slope * _slower([lap for s in own for lap in laps[s.id]], best))
        if max(gains.values(), default=0.0) >= _LOST:
            slower = math.expm1(statistics.fmean(known) - best)
            yield Fired(
                f"the CPU core was {share(slower)} slower than at its best. On an undisturbed core, {_in_words(gains)}",
                load=load,
                figures=[*SPEED, *CPU],
                evidence={"slower": slower, "gains": gains},
            )


def _slower(laps: list[CoreLap], best: float) -> float:
    return statistics.fmean(lap.work for lap in laps) - best


def _in_words(gains: dict[str, float]) -> str:
    most = sorted(gains, key=lambda name: -gains[name])[:_NAMED]
    first, *rest = (f"{name} {{}}about {share(gains[name])} more" for name in most)
    return ", ".join([first.format("would serve "), *(one.format("") for one in rest)]) + " requests"


_CPU_STOLEN_SHARE = 0.02


@on_sample(
    "cpu-stolen",
    Severity.SUSPECT,
    title="The hypervisor took CPU away",
    threshold="steal is above 2 % of the machine's CPU time in the window",
    threshold_reason=(
        "with 2 % less CPU, a fully loaded server has 2 % less throughput. That is nearly half of the default margin "
        "of 5 %"
    ),
    next_step=(
        "Measure at another time of day or on another machine. More rounds help only if steal affects all contenders "
        "equally."
    ),
)
def cpu_stolen(sample: Sample, case: Case) -> Iterator[Fired]:
    """The contender looks slower than it is. Steal varies with the load of the other virtual machines on the host."""
    stolen = stolen_share(sample, case.run.environment.cpus)
    if sample.result is not None and stolen is not None and stolen > _CPU_STOLEN_SHARE:
        yield Fired(
            f"the hypervisor took {share(stolen)} of the machine's CPU time during the window",
            figures=[*SPEED, *CPU],
            doubt=PossibleBias.of_taken(stolen, "the service had the rest of the time"),
            evidence={"steal_s": sample.result.machine.steal_s, "share": stolen},
        )


_CPU_THROTTLED_OFTEN = 0.1
_CPU_THROTTLED_LEAST_PERIODS = 10
_LABS_OWN = re.compile(r"/(touchstone-\d+-|libpod-|docker[/-])[^/]+$")
"""The group of a contender, or of its container; that of touchstone around it can have a quota of its own."""


@on_sample(
    "cpu-throttled",
    Severity.SUSPECT,
    title="The server was throttled",
    threshold=(
        "CPU quotas stopped the server for more than 1 % of the window. Or they stopped it in more than one of ten "
        "periods (with 10 periods or more). The quotas are those of the server's cgroups and of their parents"
    ),
    threshold_reason=(
        "a period is 100 ms. At 1 %, the server was stopped in about one of ten periods, which p99 shows. With fewer "
        "than 10 periods, a single stop would decide the share"
    ),
    next_step="Raise or remove the CPU quota of the cgroup, or of the container in which touchstone runs.",
)
def cpu_throttled(sample: Sample, case: Case) -> Iterator[Fired]:
    """A server that has used up its CPU quota stops until the next period.

    The latencies then show the quota and not the server. A quota that the run or the load asks for does not count.
    """
    result = sample.result
    if result is None or result.watch is None:
        return
    window, measured_s = result.watch.window, result.window.measured_s
    throttled_s, periods, cut = window.throttled_s or 0.0, window.periods or 0, window.throttled_periods or 0
    if throttled_s <= THROTTLED * measured_s and (
        periods < _CPU_THROTTLED_LEAST_PERIODS or cut <= _CPU_THROTTLED_OFTEN * periods
    ):
        return
    counted = f", in {number(cut)} of {number(periods)} periods" if periods else ""
    groups = result.watch.throttled
    if sample.process.placement.cpu_limit is not None and all(_LABS_OWN.search(group.cgroup) for group in groups):
        # The requested limit: its effect is measured as a figure.
        return
    where = f", by the quota of {groups[0].cgroup}" if groups else ""
    yield Fired(
        f"the server was throttled for {seconds(throttled_s)} of {seconds(measured_s)}{counted}{where}",
        figures=[*SPEED, *CPU],
        evidence={
            "throttled_s": throttled_s,
            "measured_s": measured_s,
            "periods": periods,
            "throttled_periods": cut,
            "cgroups": [group.model_dump() for group in groups],
        },
    )


@on_run(
    "cpus-counted-differently",
    Severity.NOTE,
    title="The contenders' runtimes count CPUs differently",
    threshold="the runtimes of two contenders count different numbers of CPUs under one CPU quota",
    threshold_reason=(
        "touchstone asks each runtime, so the numbers are exact. A runtime with more threads than the quota has CPUs "
        "uses up the quota early. All of its threads then wait until the next period"
    ),
    next_step=(
        "Limit to a whole number of CPUs, or set the same number for all contenders: GOMAXPROCS, TOKIO_WORKER_THREADS, "
        "-XX:ActiveProcessorCount, the number of workers."
    ),
)
def cpus_counted_differently(case: Case) -> Iterator[Fired]:
    """A runtime sizes its thread pools by the number of CPUs.

    Under a CPU quota some runtimes round this number up, some round it down, and some use the machine's number. This
    may be part of the difference between contenders.
    """
    by_quota: dict[float | None, dict[str, tuple[int, str]]] = {}
    for sample in case.run.samples:
        if (counted := sample.process.placement.counted_cpus) is not None:
            found = by_quota.setdefault(sample.process.placement.cpu_limit, {})
            found[sample.contender] = (counted.count, counted.runtime)
    for quota, found in by_quota.items():
        if len({count for count, _ in found.values()}) > 1:
            limit = quota if quota is not None else case.run.environment.cpu_quota
            counts = ", ".join(f"{name} ({runtime}) {count}" for name, (count, runtime) in sorted(found.items()))
            yield Fired(
                f"with a limit of {limit:g} CPUs, the runtimes count different numbers of CPUs: {counts}",
                figures=[],
                evidence={"quota": limit, "counted": {name: count for name, (count, _) in found.items()}},
            )


_FREQUENCY_CHANGED_NOTE = 0.05
_FREQUENCY_CHANGED_SUSPECT = 0.10


@on_sample(
    "frequency-changed",
    Severity.SUSPECT,
    title="The CPU changed its clock rate",
    threshold=(
        "the mean clock rate at a sample's end differs from that at its start by more than 10 %: suspect; by more than "
        "5 %: a note"
    ),
    threshold_reason="single readings of the clock rate vary by a few percent. 5 % is the default margin",
    next_step="Set the governor to performance, fix the rate (`cpupower frequency-set`), and let the machine cool.",
    phases=("load", "boot", "build", "hold", "drain", "peak"),
)
def frequency_changed(sample: Sample, case: Case) -> Iterator[Fired]:
    """If heat or power saving slows a CPU, contenders that are measured later look slower."""
    state = machine_state(sample)
    if not state.frequency_mhz_before or not state.frequency_mhz_after:
        return
    before, after = statistics.fmean(state.frequency_mhz_before), statistics.fmean(state.frequency_mhz_after)
    change = abs(after / before - 1) if before else 0.0
    if change > _FREQUENCY_CHANGED_NOTE:
        yield Fired(
            f"the CPU's clock rate changed from {number(before)} to {number(after)} MHz",
            severity=Severity.SUSPECT if change > _FREQUENCY_CHANGED_SUSPECT else Severity.NOTE,
            figures=[*SPEED, *CPU],
            evidence={"before_mhz": before, "after_mhz": after},
        )


_OTHERS_NOTE = 0.05
_GREAT = 0.25
"""A process that used less of it is named only in the evidence."""


@on_sample(
    "other-processes",
    Severity.SUSPECT,
    title="Other processes used the CPUs",
    threshold=(
        "processes other than server, engine and dependencies use more than 10 % of the machine's CPU: suspect; more "
        "than 5 %: a note"
    ),
    threshold_reason=(
        "an idle desktop and touchstone's own sampling stay below 5 %. On two cores, 10 % of the machine is a fifth of "
        "one core"
    ),
    next_step="Stop other processes (`touchstone doctor --noise` lists them), or measure on a dedicated machine.",
)
def other_processes(sample: Sample, case: Case) -> Iterator[Fired]:
    """Other programs take CPU, caches and memory bandwidth from server and engine."""
    used = others_share(sample, case.run.environment.cpus)
    if used is not None and used > _OTHERS_NOTE:
        machine = sample.result.machine if sample.result else Machine()
        yield Fired(
            f"other processes used {share(used)} of the machine's CPU time" + _who(machine),
            severity=Severity.SUSPECT if used > OTHERS else Severity.NOTE,
            figures=[*SPEED, *CPU],
            doubt=PossibleBias.of_taken(used),
            evidence={"other_cpu_s": machine.other_cpu_s, "share": used},
        )


def _who(machine: Machine) -> str:
    """Names the process that used a great part of it."""
    if not machine.other_processes or not machine.other_cpu_s:
        return ""
    first = machine.other_processes[0]
    part = min(1.0, first.cpu_s / machine.other_cpu_s)
    return f"; {first.called} used {share(part)} of that" if part >= _GREAT else ""


@on_run(
    "shared-cpus",
    Severity.NOTE,
    title="Server and engine share CPUs",
    threshold="the CPU sets of server and engine, or of server and dependencies, overlap",
    threshold_reason="this affects all contenders alike, so it is a note",
    next_step="Use a machine with more CPUs, or rely on the ratios and not on the absolute figures.",
)
def shared_cpus(case: Case) -> Iterator[Fired]:
    """If server and engine share a CPU, each slows the other down.

    The server's figures then include the engine's work.
    """
    shared: dict[str, list[str]] = {}
    for sample in case.run.samples:
        if sample.phase != "load" or sample.contender == TARE:
            continue
        place = sample.process.placement
        for who, cpus in (("the engine", place.engine_cpus), ("its dependencies", place.dependency_cpus)):
            if set(cpus) & set(place.server_cpus):
                shared.setdefault(who, []).append(sample.id)
    for who, samples in shared.items():
        yield Fired(
            f"the server shares CPUs with {who} in {len(samples)} sample(s)", evidence={"samples": samples[:10]}
        )
