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
_TOLD = 4


@on_run(
    "core-slowed",
    Severity.NOTE,
    title="The core was slower than its best",
    threshold=(
        "judged by how its rate depends on the time that a fixed piece of work takes on its CPUs, a contender would "
        "have answered 15 % more requests on a core as fast as in the best twentieth of the load's slices; silent "
        "if other processes used 10 % of the machine or more, because their use varies with the core's speed"
    ),
    threshold_reason="on a quiet virtual machine up to 10 % were seen",
    next_step=(
        "Nothing is wrong with the contenders. Where they would gain unequally their ratio is another one on a quiet "
        "host: measure again there, or at another hour."
    ),
)
def core_slowed(case: Case) -> Iterator[Fired]:
    """If a core's hyperthread or caches are used by another program, services slow down.

    Not all slow down by the same share: a service that reads much memory loses more. The ratio of two services is then
    true for this machine in this state, and may differ on a quiet one.
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
                f"the core was {share(slower)} slower than at its best: left alone {_told(gains)}",
                load=load,
                figures=[*SPEED, *CPU],
                evidence={"slower": slower, "gains": gains},
            )


def _slower(laps: list[CoreLap], best: float) -> float:
    return statistics.fmean(lap.work for lap in laps) - best


def _told(gains: dict[str, float]) -> str:
    most = sorted(gains, key=lambda name: -gains[name])[:_TOLD]
    first, *rest = (f"{name} {{}}about {share(gains[name])} more" for name in most)
    return ", ".join([first.format("would answer "), *(one.format("") for one in rest)]) + " requests"


_CPU_STOLEN_SHARE = 0.02


@on_sample(
    "cpu-stolen",
    Severity.SUSPECT,
    title="The hypervisor took CPU away",
    threshold="steal above 2 % of the machine's CPU time in the window",
    threshold_reason=(
        "2 % of CPU is 2 % of the throughput of a full server, nearly half of the least effect that matters by default"
    ),
    next_step="Measure at another hour or on another machine; more rounds average it out only if it hits all alike.",
)
def cpu_stolen(sample: Sample, case: Case) -> Iterator[Fired]:
    """Stolen time looks like slow code. It comes and goes with the other virtual machines on the host."""
    stolen = stolen_share(sample, case.run.environment.cpus)
    if sample.result is not None and stolen is not None and stolen > _CPU_STOLEN_SHARE:
        yield Fired(
            f"{share(stolen)} of the machine's CPU time was stolen during the window",
            figures=[*SPEED, *CPU],
            doubt=PossibleBias.of_taken(stolen, "the rest of the time was its own"),
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
        "the quotas of its processes' cgroups, or of those above, kept the server off the CPU for more than 1 % of "
        "the window; or cut short more than one in ten of at least 10 periods"
    ),
    threshold_reason=(
        "a period is 100 ms, so at 1 % about one period in ten of a ten-second window was cut short, which is "
        "seen at p99. Below 10 periods one cut more or less decides"
    ),
    next_step="Raise or remove the CPU quota of the cgroup, or of the container that the lab runs in.",
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
    threshold="under one CPU quota two contenders whose runtimes count different numbers of CPUs",
    threshold_reason="a plain fact: one more thread than there is CPU time for is held back with the others",
    next_step=(
        "Limit to a whole number of CPUs, or set the number for all alike: GOMAXPROCS, TOKIO_WORKER_THREADS, "
        "-XX:ActiveProcessorCount, the number of workers."
    ),
)
def cpus_counted_differently(case: Case) -> Iterator[Fired]:
    """A runtime sizes its thread pools by the CPUs it counts.

    Under a quota some runtimes round up, some round down, and some count the machine's CPUs. Part of a difference
    between contenders may be that choice.
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
                f"under {limit:g} CPUs the runtimes count different numbers of CPUs: {counts}",
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
        "the mean clock rate differs by more than 10 % between a sample's begin and end: suspect; by more than 5 "
        "%: a note"
    ),
    threshold_reason=(
        "rates are read as snapshots that jitter by a few percent. 5 % is the least effect that matters by default"
    ),
    next_step="Set the governor to performance, fix the rate (`cpupower frequency-set`), and let the machine cool.",
    phases=("load", "boot", "build", "hold", "drain", "peak"),
)
def frequency_changed(sample: Sample, case: Case) -> Iterator[Fired]:
    """A CPU that slows down (heat, power saving) makes the later contender look slower."""
    state = machine_state(sample)
    if not state.frequency_mhz_before or not state.frequency_mhz_after:
        return
    before, after = statistics.fmean(state.frequency_mhz_before), statistics.fmean(state.frequency_mhz_after)
    change = abs(after / before - 1) if before else 0.0
    if change > _FREQUENCY_CHANGED_NOTE:
        yield Fired(
            f"the clock rate went from {number(before)} to {number(after)} MHz",
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
        "CPU of processes that are neither server, engine nor dependency: above 10 % of the machine suspect, "
        "above 5 % a note"
    ),
    threshold_reason=(
        "an idle desktop or the lab's own sampling stays below 5 %. On two cores 10 % of the machine is a fifth "
        "of one side"
    ),
    next_step="End what else runs (`touchstone doctor --noise` shows it), or measure on a machine of its own.",
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
    if not machine.strangers or not machine.other_cpu_s:
        return ""
    first = machine.strangers[0]
    part = min(1.0, first.cpu_s / machine.other_cpu_s)
    return f", {share(part)} of that {first.called}" if part >= _GREAT else ""


@on_run(
    "shared-cpus",
    Severity.NOTE,
    title="Server and engine share CPUs",
    threshold="the CPU sets of server and engine, or of server and dependencies, overlap",
    threshold_reason="a plain fact of the plan, true for all contenders alike. So it is a note",
    next_step="Use a machine with more CPUs, or read the ratios and not the absolute figures.",
)
def shared_cpus(case: Case) -> Iterator[Fired]:
    """Programs that share a CPU take turns, so the server's figures include the engine's work."""
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
