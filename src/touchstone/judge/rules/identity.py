"""Rules on identity: whether what was measured is the contender, all of it, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict

from touchstone.judge.figures import CPU, MEMORY, SPEED
from touchstone.judge.judgement import PossibleBias, Severity
from touchstone.judge.language.quantity import number, seconds, share, size
from touchstone.judge.reading.case import Case, SampleGroup
from touchstone.judge.reading.outside_helper import RARE, outside_helper_of
from touchstone.judge.rule import Fired, on_group, on_sample
from touchstone.record.sample import Sample


@on_sample(
    "foreign-listener",
    Severity.INVALID,
    title="Another process answered in the contender's place",
    threshold="the listening socket belongs to no process of the contender's tree",
    threshold_reason="the kernel knows the owner of a socket, so this is a fact",
    next_step="Stop the process that holds the port (`touchstone doctor` names it) and measure again.",
    phases=None,
    tares_too=True,
)
def foreign_listener(sample: Sample, case: Case) -> Iterator[Fired]:
    """An old server on the port answers immediately, in place of the new one."""
    if sample.process.foreign_listener:
        yield Fired(
            f"another process listened on the contender's port: {sample.process.foreign_listener}",
            evidence={"listener": sample.process.foreign_listener},
        )
        return
    runs = sample.boot.runs if sample.boot else []
    foreign = [r for r in runs if r.answered_by_ours is False or r.failure == "foreign_listener"]
    if foreign:
        yield Fired(
            f"{len(foreign)} of {len(runs)} starts were answered by a process other than the started one",
            evidence={"runs": [r.model_dump(exclude_none=True) for r in foreign[:3]]},
        )


@on_group(
    "helped-from-outside",
    Severity.SUSPECT,
    title="A process outside the contender's tree worked whenever the contender was loaded",
    threshold=(
        "in closed loops with slices, one of two is true. (1) Processes outside the run use more CPU in the "
        "contender's slices than in the others' slices of the same lap. The median difference is above 5 % of a CPU, "
        "and there are more positive differences than chance explains (sign test, p < 0.001). Two parts are "
        "subtracted first. One is the kernel's work for requests, estimated from the others' slices. The other is "
        "the additional CPU of processes that use at least half as much in the others' slices. (2) A single process, "
        "or all processes of one name, uses more CPU in the contender's slices than in those of each comparable "
        "neighbour. The difference is above 5 % of the contender's CPU (at least 1 % and at most 5 % of a CPU). "
        "There are more positive differences than chance explains, with a correction for the number of processes. In "
        "the neighbour's slices the process uses less than half as much. A neighbour is comparable if it leaves about "
        "as much CPU free: the contender leaves at most 1.5 times as much, and the process's use in the neighbour's "
        "slices is multiplied by this ratio"
    ),
    threshold_reason=(
        "unrelated processes use as much CPU in neighbouring slices. 5 % is the smallest difference that matters. At "
        "this p, the rule fires by chance for fewer than one contender in a thousand"
    ),
    next_step=(
        "Find out which process works during the load (`top`): a helper left by an earlier start or an installation, "
        "a logging daemon, a proxy. Stop it, or start it as a child process of the contender."
    ),
    phases=("load",),
)
def helped_from_outside(group: SampleGroup, case: Case) -> Iterator[Fired]:
    """Work of a process outside the service's process tree is missing in the figures.

    Unrelated processes work independently of the slices. A process that works only in the slices of one contender works
    because of that contender.
    """
    found = outside_helper_of(group.samples, case.run)
    if found is None or found.cpus <= found.least or found.chance >= RARE:
        return
    slower = 1 + found.cpus / found.own_cpus if found.own_cpus > 0 else None
    process = (
        f"{found.who}, a process outside the contender's tree,"
        if found.who
        else "a process outside the contender's tree"
    )
    yield Fired(
        f"{process} used {share(found.cpus)} of a CPU while the contender was loaded "
        f"(in {found.more} of {found.laps} laps)",
        figures=[*SPEED, *CPU],
        doubt=PossibleBias(slower=slower, reason="all of that CPU time may have served the contender's requests"),
        evidence=asdict(found),
    )


@on_sample(
    "process-escaped",
    Severity.INVALID,
    title="A process of the server left its session or its cgroup",
    threshold=(
        "a process that the contender started is in neither the contender's session nor its cgroup, or a process of "
        "the contender's tree is outside the cgroup"
    ),
    threshold_reason=(
        "a process inherits session and cgroup. A fork does not change the cgroup, and neither does a process that "
        "becomes a daemon"
    ),
    next_step="Start the server in the foreground. If it needs a helper, leave the helper in the cgroup.",
    own_failure=True,
    phases=None,
)
def process_escaped(sample: Sample, case: Case) -> Iterator[Fired]:
    """No figure includes a process that has left the server's process tree. No memory limit applies to it either."""
    found = [process for account in sample.process.confinement for process in (*account.strays, *account.left_cgroup)]
    if found:
        first = found[0]
        used = ""
        if first.cpu_s is not None and first.rss is not None:
            used = f"; it used {seconds(first.cpu_s)} of CPU time and {size(first.rss)} of memory"
        yield Fired(
            f"process {first.pid} was outside the contender's session or cgroup{used}",
            evidence={"processes": [process.model_dump(exclude_unset=True) for process in found[:5]]},
        )


_WRONG_PROCESS_WATCHED_LEAST_S = 1e-6
_WRONG_PROCESS_WATCHED_TICKS_S = 0.02


@on_sample(
    "wrong-process-watched",
    Severity.INVALID,
    title="The watched process did not serve the requests",
    threshold=(
        "the watched process tree used less than 1 microsecond of CPU per request (with pipelining: divided by the "
        "depth), apart from 20 ms for the resolution of the CPU clock"
    ),
    threshold_reason="receiving and sending on a loopback socket costs about 5 microseconds in the kernel alone",
    next_step="Start the server itself, not a script that leaves the server behind. Look at `argv` in stack.toml.",
)
def wrong_process_watched(sample: Sample, case: Case) -> Iterator[Fired]:
    """If touchstone watches a launcher instead of the server, memory and CPU are far too small.

    A process that serves requests uses CPU for each of them.
    """
    result = sample.result
    if result is None or result.watch is None or result.watch.window.cpu_s is None:
        return
    cpu, needed = (
        result.watch.window.cpu_s,
        result.counts.completed * _WRONG_PROCESS_WATCHED_LEAST_S / (sample.spec.pipeline * sample.spec.streams),
    )
    if cpu + _WRONG_PROCESS_WATCHED_TICKS_S < needed:
        yield Fired(
            f"the watched processes used only {seconds(cpu)} of CPU time for {number(result.counts.completed)} "
            "responses",
            figures=[*CPU, *MEMORY],
            evidence={"cpu_s": cpu, "completed": result.counts.completed, "least_cpu_s": needed},
        )
