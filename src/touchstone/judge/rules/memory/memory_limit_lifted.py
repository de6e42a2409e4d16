"""Rule: the memory limit was lifted."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.judge.judgement import Finding, Severity
from touchstone.judge.language.quantity import size
from touchstone.judge.reading.case import Case
from touchstone.judge.rule import SampleRule
from touchstone.record.sample import Sample


class MemoryLimitLifted(SampleRule):
    """A search for the smallest limit says nothing of a server that sets its limit itself."""

    code = "memory-limit-lifted"
    severity = Severity.INVALID
    title = "The memory limit was lifted"
    threshold = "a limit read back, at a contender's end, above the one that was set"
    threshold_reason = "the kernel rounds a limit down to pages, and nobody but the contender writes to its cgroup"
    next_step = "See what writes to the cgroup's files: the server, or a service manager next to the lab."
    own_failure = True
    phases = None

    def look(self, sample: Sample, case: Case) -> Iterator[Finding]:
        """Look at one sample."""
        lifted = [account.memory_limit for account in sample.confinement if account.memory_limit is not None]
        if lifted:
            yield self.finding(
                f"in {len(lifted)} starts the memory limit was found lifted, once to {size(max(lifted))}",
                sample=sample,
                evidence={"limits": lifted},
            )
