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
        "fastest 5 % of the load's slices. The estimate uses how the contender's rate depends on the time that a fixed "
        "piece of work takes on its CPUs. The rule does not fire if other processes used more than 10 % of the "
        "machine, because their use varies with the core's speed"
    ),
    threshold_reason="up to 10 % is normal on a quiet virtual machine",
    next_step=(
        "Nothing is wrong with the contenders. If they would gain unequally, their ratio is different on a quiet host. "
        "Measure again on one, or at another hour."
    ),
)
def core_slowed(case: Case) -> Iterator[Fired]:
    """Services slow down if another program uses their core's hyperthread or caches.

    Not all slow down equally: a service that reads much memory loses more. The ratio of two services is then true for
    this machine in this state, and may differ on a quiet one.
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
        "a fully loaded server loses 2 % of its throughput with 2 % of the CPU. By default an effect of 5 % matters, "
        "and 2 % is nearly half of it"
    ),
    next_step=(
        "Measure at another hour or on another machine. More rounds average steal out only if it hits all contenders "
        "equally."
    ),
)
def cpu_stolen(sample: Sample, case: Case) -> Iterator[Fired]:
    """Stolen time looks like slow code. It varies with the other virtual machines on the host."""
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
"""The group of a contender, or of its container; that of the lab around it can have a quota of its own."""


@on_sample(
    "cpu-throttled",
    Severity.SUSPECT,
    title="The server was throttled",
    threshold=(
        "CPU quotas of the cgroups that hold the server's processes, or of parent cgroups, kept the server off the CPU "
        "for more than 1 % of the window. Or they cut short more than one in ten of at least 10 periods"
    ),
    threshold_reason=(
        "a period is 100 ms. At 1 %, about one period in ten of a ten-second window was cut short, which p99 shows. "
        "With fewer than 10 periods, a single cut decides the share"
    ),
    next_step="Raise or remove the CPU quota of the cgroup, or of the container in which touchstone runs.",
)
def cpu_throttled(sample: Sample, case: Case) -> Iterator[Fired]:
    """A CPU quota stops a server for the rest of each period. The latencies then show the quota.

    A limit that the run or the load asks for does not count.
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
        "this is a plain fact. A runtime that runs more threads than the quota has CPUs uses up the quota early, and "
        "all of its threads are held back until it refills"
    ),
    next_step=(
        "Limit to a whole number of CPUs, or set the same number for all contenders: GOMAXPROCS, TOKIO_WORKER_THREADS, "
        "-XX:ActiveProcessorCount, the number of workers."
    ),
)
def cpus_counted_differently(case: Case) -> Iterator[Fired]:
    """A runtime sizes its thread pools by the CPUs that it counts.

    Under a quota some runtimes round up, some round down, and some count the machine's CPUs. This choice may be part of
    the difference between contenders.
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
    threshold_reason=(
        "rates are read as snapshots, which jitter by a few percent. 5 % is the least effect that matters by default"
    ),
    next_step="Set the governor to performance, fix the rate (`cpupower frequency-set`), and let the machine cool.",
    phases=("load", "boot", "build", "hold", "drain", "peak"),
)
def frequency_changed(sample: Sample, case: Case) -> Iterator[Fired]:
    """If a CPU slows down (heat, power saving), the contender that is measured later looks slower."""
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
    threshold_reason="this is a plain fact of the plan, and true for all contenders. So it is a note",
    next_step="Use a machine with more CPUs, or read the ratios and not the absolute figures.",
)
def shared_cpus(case: Case) -> Iterator[Fired]:
    """Programs that share a CPU take turns. So the server's figures include the engine's work."""
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
