"""Rule: the server could run on CPUs that it was not given."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from touchstone.judge.judgement import Finding, Severity
from touchstone.judge.language.quantity import seconds
from touchstone.judge.reading.case import Case
from touchstone.judge.rule import SampleRule
from touchstone.record.evidence.surroundings import ThreadAtEnd
from touchstone.record.sample import Sample
from touchstone.record.watch import StrayThread

LEAST_S = 0.01


class CpusNotKept(SampleRule):
    """Contenders compare on equal CPUs. One that takes the engine's as well has more of them, and slows the engine."""

    code = "cpus-not-kept"
    severity = Severity.INVALID
    title = "The server could run on CPUs that it was not given"
    threshold = (
        "any thread of the server, at any sample of the load or at the end, that could run or had run on a CPU that "
        "it was not given; or more than 10 ms of CPU time there by the kernel's count for its cgroup"
    )
    threshold_reason = (
        "a CPU set is inherited, so only a call of the server's own widens it; the kernel's count is exact, and 10 ms "
        "are far below what any figure shows"
    )
    next_step = "Look for calls of `sched_setaffinity` or thread-pinning options in the server or its runtime."
    own_failure = True
    phases = None

    def look(self, sample: Sample, case: Case) -> Iterator[Finding]:
        """Look at one sample."""
        given = sample.placement.server_cpus
        watch = sample.result.watch if sample.result else None
        placement = watch.placement if watch else None
        at_end = [thread for account in sample.confinement for thread in account.beyond_cpus]
        seen = placement.beyond if placement else []
        used = placement.beyond_cpu_s if placement else None
        if not at_end and not seen and (used or 0.0) <= LEAST_S:
            return
        how = f", and {seconds(used)} of CPU time were used on others" if used is not None and used > LEAST_S else ""
        yield self.finding(
            f"{_stray(seen, at_end)}the server was given CPUs {given}{how}",
            sample=sample,
            evidence={
                "given": given,
                "threads_at_end": [thread.model_dump(exclude_unset=True) for thread in at_end],
                "threads_seen": [thread.model_dump() for thread in seen],
                "beyond_cpu_s": used,
            },
        )


def _stray(seen: Sequence[StrayThread], at_end: Sequence[ThreadAtEnd]) -> str:
    """The first thread in words; nothing where only the kernel's count tells."""
    if at_end:
        return f"a thread of the server may run on CPUs {at_end[0].cpus}, and "
    if not seen:
        return ""
    first = seen[0]
    when = f"from {first.first_t:.1f} s to {first.last_t:.1f} s of the load"
    where = f"could run on CPUs {first.cpus}" if first.ran_on is None else f"had run on CPU {first.ran_on}"
    return f"thread {first.tid} ({first.name}) {where} {when}, and "
