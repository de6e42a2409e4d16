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
    """A leftover server on the port answers in place of the new one, and at once."""
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
        "in closed loops with slices, one of two is true. (1) CPU of processes outside the run is higher in the "
        "contender's slices than in the others' slices of the same lap. The difference is above 5 % of a CPU in the "
        "median over all laps, and positive in more laps than chance explains (sign test, p < 0.001). Two things are "
        "subtracted first. One is the kernel's work for requests: that of the others' requests, at this contender's "
        "rate. The other is the extra CPU of processes that use at least half as much in the others' slices. (2) One "
        "process, by number or by name, uses more than it does in the slices of each neighbour that leaves about as "
        "much CPU free. The difference is above 5 % of the contender's CPU (at least 1 %, at most 5 % of a CPU), and "
        "positive in more laps than chance explains for all such processes together. In the neighbour's slices "
        "it uses less than half of that. About as much: the contender leaves at most 1.5 times as much, and the "
        "process's use in the neighbour's slices is multiplied by this"
    ),
    threshold_reason=(
        "unrelated processes take as much from neighbouring slices. 5 % is the least difference that matters. At this "
        "p, fewer than one sound contender in a thousand is named"
    ),
    next_step=(
        "Find out which process works during the load (`top`): a helper left by an earlier start or an installation, a "
        "logging daemon, a proxy. Stop it, or start it with the contender so that it is in the contender's tree."
    ),
    phases=("load",),
)
def helped_from_outside(group: SampleGroup, case: Case) -> Iterator[Fired]:
    """Work that a service hands to a process outside its tree is missing from its figures.

    Unrelated processes work independently of the slices. A process that works while one contender is loaded, and rests
    while the others are, works for that contender or because of it.
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
        "a process that the contender started is in neither its session nor its cgroup, or a process of the "
        "contender's tree is outside its cgroup"
    ),
    threshold_reason="session and cgroup are inherited. A fork, or becoming a daemon, does not change the cgroup",
    next_step="Start the server in the foreground. If it needs a helper, leave the helper in the cgroup.",
    own_failure=True,
    phases=None,
)
def process_escaped(sample: Sample, case: Case) -> Iterator[Fired]:
    """A process that has left the tree is in no figure. No memory limit applies to it."""
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
    title="The watched process did not do the work",
    threshold=(
        "the watched process tree used less than 1 microsecond of CPU per request, divided by the pipelining depth; 20 "
        "ms are allowed for the clock"
    ),
    threshold_reason=(
        "to receive and send on a loopback socket costs about 5 microseconds in the kernel alone. The kernel's CPU "
        "accounts tick every 10 ms"
    ),
    next_step="Start the server itself, not a script that leaves the server behind. Look at `argv` in stack.toml.",
)
def wrong_process_watched(sample: Sample, case: Case) -> Iterator[Fired]:
    """Memory and CPU of a launcher are small and mean nothing.

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
