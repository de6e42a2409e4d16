"""Rule: the server goes before others."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.judge.judgement import Finding, Severity
from touchstone.judge.reading.case import Case
from touchstone.judge.rule import SampleRule
from touchstone.record.sample import Sample


class PriorityRaised(SampleRule):
    """A server that raises its own priority waits less for a CPU than one that does not.

    Where engine or dependencies share the CPU, they wait in its place.
    """

    code = "priority-raised"
    severity = Severity.SUSPECT
    title = "The server goes before others"
    threshold = "any thread with a nice value below the lab's own, or under a real-time policy"
    threshold_reason = "priority is inherited from the lab; only a call of the server's own raises it"
    next_step = "Take the call of `nice`, `setpriority` or `sched_setscheduler` out, or give it to all contenders."
    phases = None

    def look(self, sample: Sample, case: Case) -> Iterator[Finding]:
        """Look at one sample."""
        threads = [thread for account in sample.confinement for thread in account.raised]
        if threads:
            first = threads[0]
            how = first.policy or f"nice {first.nice}, and the lab has {first.usual}"
            yield self.finding(
                f"a thread of the server runs under {how}",
                sample=sample,
                evidence={"threads": [thread.model_dump(exclude_unset=True) for thread in threads]},
            )
