"""Rules on confinement: limits that a contender was given, and left."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from touchstone.judge.judgement import Severity
from touchstone.judge.language.quantity import seconds, size
from touchstone.judge.reading.case import Case
from touchstone.judge.rule import Fired, on_sample
from touchstone.record.evidence.surroundings import Confinement, ThreadAtEnd
from touchstone.record.sample import Sample
from touchstone.record.watch import StrayThread

_CPUS_NOT_KEPT_LEAST_S = 0.01


@on_sample(
    "cpus-not-kept",
    Severity.INVALID,
    title="The server could run on CPUs outside its set",
    threshold=(
        "during the load or at its end, a thread of the server ran on a CPU outside the server's CPU set, or was "
        "allowed to. Or the kernel counted more than 10 ms of CPU time of the server's cgroup outside the set"
    ),
    threshold_reason=(
        "a process inherits its CPU set. Only the server itself can widen the set, or ask io_uring for a polling "
        "thread on a CPU outside the set (IORING_SETUP_SQ_AFF). The kernel's count is exact, and 10 ms are too little "
        "to change a figure"
    ),
    next_step="Look for calls of `sched_setaffinity` or thread-pinning options in the server or its runtime.",
    own_failure=True,
    phases=None,
)
def cpus_not_kept(sample: Sample, case: Case) -> Iterator[Fired]:
    """Contenders are compared on equal CPUs.

    A contender that also uses the engine's CPUs has more CPU than the others, and slows the engine down.
    """
    given = sample.process.placement.server_cpus
    watch = sample.result.watch if sample.result else None
    placement = watch.placement if watch else None
    at_end = [thread for account in sample.process.confinement for thread in account.beyond_cpus]
    seen = placement.beyond if placement else []
    used = placement.beyond_cpu_s if placement else None
    if not at_end and not seen and (used or 0.0) <= _CPUS_NOT_KEPT_LEAST_S:
        return
    how = (
        f". It used {seconds(used)} of CPU time on other CPUs"
        if used is not None and used > _CPUS_NOT_KEPT_LEAST_S
        else ""
    )
    yield Fired(
        f"{_stray(seen, at_end)}the server was given only CPUs {given}{how}",
        evidence={
            "given": given,
            "threads_at_end": [thread.model_dump(exclude_unset=True) for thread in at_end],
            "threads_seen": [thread.model_dump() for thread in seen],
            "beyond_cpu_s": used,
        },
        next_step=_POLLING_NEXT if any(map(_polls, seen)) or any(map(_polls, at_end)) else None,
    )


_POLLING_NEXT = (
    "Remove IORING_SETUP_SQ_AFF from io_uring's set-up, or set `sq_thread_cpu` to a CPU of the server's set: the "
    "kernel accepts any CPU there."
)


def _polls(thread: StrayThread | ThreadAtEnd) -> bool:
    """Whether it is an io_uring polling thread. The kernel names it after the requesting process."""
    return thread.name.startswith("iou-sqp-")


def _stray(seen: Sequence[StrayThread], at_end: Sequence[ThreadAtEnd]) -> str:
    """The first thread in words; empty where only the kernel's count shows it."""
    if at_end:
        who = next(filter(_polls, at_end), at_end[0])
        named = f"io_uring's polling thread ({who.name})" if _polls(who) else "a thread of the server"
        return f"{named} could run on CPUs {who.cpus} at the end, but "
    if not seen:
        return ""
    first = seen[0]
    when = f"from {first.first_t:.1f} s to {first.last_t:.1f} s of the load"
    where = f"could run on CPUs {first.cpus}" if first.ran_on is None else f"was seen on CPU {first.ran_on}"
    return f"thread {first.tid} ({first.name}) {where} {when}, but "


_LIMITS = {"memory": "the memory limit", "cpu": "the CPU limit"}


@on_sample(
    "limit-lifted",
    Severity.INVALID,
    title="A limit or priority was changed during the measurement",
    threshold=(
        "touchstone reads the limits back while the contender runs and at its end. The rule fires if a memory or CPU "
        "limit is higher than set or missing, or if another control file of the cgroup has changed (CPU weight, "
        "quota, CPU set, memory, swap, processes). It also fires for a hard resource limit above touchstone's, for a "
        "lower OOM score, and for a higher nice value of touchstone's own processes"
    ),
    threshold_reason=(
        "the kernel rounds a memory limit down, so it is never higher by itself. Only the contender or a service "
        "manager can have changed a control file. A program needs a privilege to raise its hard resource limits"
    ),
    next_step=(
        "Find out what writes to the cgroup's files: the server itself, or a service manager. In a systemd unit "
        "touchstone needs `Delegate=yes`; `touchstone doctor` shows which cgroup it uses."
    ),
    own_failure=True,
    phases=None,
)
def limit_lifted(sample: Sample, case: Case) -> Iterator[Fired]:
    """Figures under a limit are wrong if the limit was not in force.

    A server can raise its own limit. A service manager can remove limits too: on reload, it switches off the
    controllers of cgroups that it does not know.
    """
    found = [account for account in sample.process.confinement if (*_lifted(account),)]
    if found:
        how = "; ".join(dict.fromkeys(text for account in found for text in _lifted(account)))
        yield Fired(
            f"a limit or priority changed in {len(found)} of the service's starts: {how}",
            evidence={"accounts": [account.model_dump(exclude_defaults=True) for account in found]},
        )


def _lifted(account: Confinement) -> Iterator[str]:
    for name in account.limits_gone:
        yield f"{_LIMITS[name]} was removed"
    if account.memory_limit is not None:
        yield f"{_LIMITS['memory']} changed to {size(account.memory_limit)}"
    if account.cpu_limit is not None:
        yield f"{_LIMITS['cpu']} changed to {account.cpu_limit:g} CPUs"
    for name, (given, found) in account.changed.items():
        yield f"{name} changed from {given} to {found}"


@on_sample(
    "priority-raised",
    Severity.SUSPECT,
    title="The server raised its own priority",
    threshold="a thread of the server has a nice value below that of touchstone, or a real-time policy",
    threshold_reason="the server inherits its priority from touchstone. Only a call of the server itself raises it",
    next_step="Remove the call of `nice`, `setpriority` or `sched_setscheduler`, or use it for all contenders.",
    phases=None,
)
def priority_raised(sample: Sample, case: Case) -> Iterator[Fired]:
    """A server with a raised priority waits less for a CPU than other servers.

    Engine and dependencies wait longer if they share that CPU.
    """
    threads = [thread for account in sample.process.confinement for thread in account.raised]
    if threads:
        first = threads[0]
        how = f"the policy {first.policy}" if first.policy else f"nice {first.nice} (touchstone itself: {first.usual})"
        yield Fired(
            f"a thread of the server runs with {how}",
            evidence={"threads": [thread.model_dump(exclude_unset=True) for thread in threads]},
        )
