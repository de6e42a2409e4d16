"""What threads wait for off the CPU, by the kernel's function that they sleep in."""

from __future__ import annotations

import re
from collections.abc import Sequence

from touchstone.judge.why.explanation import CountDifference
from touchstone.record.evidence.profile import ProfileEvidence, Waits

FOR_A_CPU = "for a CPU"
KINDS = (
    ("for another thread", r"futex", "futex_wait_queue"),
    (
        "for a disk",
        r"io_schedule|folio|wait_on_page|jbd2|blk_|rq_qos|submit_bio|ext4|xfs|btrfs|writeback",
        "jbd2_log_wait_commit",
    ),
    ("for a connection to be ready", r"ep_poll|epoll|poll_schedule|do_(sys_)?poll|do_select|cqring", "do_epoll_wait"),
    ("in a read or write of a socket or pipe", r"sk_wait|wait_woken|_accept|unix_stream|recv|pipe", "inet_csk_accept"),
    ("for a time to pass", r"nanosleep|schedule_timeout|sigtimedwait|rt_sigtime", "hrtimer_nanosleep"),
    ("for a signal or a child", r"do_wait|sigsuspend|pause|ptrace", "do_wait"),
)
"""What is waited for, the kernel's functions, and one of them."""
ELSE = "for something else"
_LEAST = 0.005
"""Threads on average: fewer are not a row."""


def kind_of(function: str) -> str:
    """What a thread that sleeps in this function of the kernel waits for."""
    return next((name for name, pattern, _ in KINDS if re.search(pattern, function)), ELSE)


def waits(sides: Sequence[Sequence[ProfileEvidence]]) -> tuple[list[CountDifference], str]:
    """The waiting threads of both by reason, averaged over rounds, or why it is unknown."""
    means = []
    for side in sides:
        mean, why_not = waits_of(side)
        if why_not:
            return [], why_not
        means.append(mean)
    a, b = means
    found = [CountDifference(name=name, baseline=a.get(name, 0.0), contender=b.get(name, 0.0)) for name in a.keys() | b]
    return sorted(found, key=lambda wait: (-abs(wait.difference), wait.name)), ""


def waits_of(side: Sequence[ProfileEvidence]) -> tuple[dict[str, float], str]:
    """One contender's waiting threads on average over rounds, by what they wait for. Or why this is not known."""
    looked = [one.waits for one in side if one.waits and one.waits.looks]
    if not looked:
        return {}, next((one.no_waits for one in side if one.no_waits), "nobody looked")
    mean = _mean([_by_kind(one) for one in looked])
    return {name: threads for name, threads in mean.items() if threads >= _LEAST}, ""


def _by_kind(one: Waits) -> dict[str, float]:
    found: dict[str, float] = {}
    for function, times in one.asleep.items():
        name = kind_of(function)
        found[name] = found.get(name, 0.0) + times / one.looks
    if one.run_delay_s is not None:
        found[FOR_A_CPU] = one.run_delay_s / one.seconds
    return found


def _mean(rounds: Sequence[dict[str, float]]) -> dict[str, float]:
    names = {name for one in rounds for name in one}
    return {name: sum(one.get(name, 0.0) for one in rounds) / len(rounds) for name in names}
