"""Rule: the server could run on CPUs that it was not given."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.judge.case import Case
from touchstone.judge.confinement import accounts
from touchstone.judge.judgement import Finding, Severity
from touchstone.judge.rule import SampleRule
from touchstone.record.sample import Sample


class CpusNotKept(SampleRule):
    """Contenders compare on equal CPUs. One that takes the engine's as well has more of them, and slows the engine."""

    code = "cpus-not-kept"
    severity = Severity.INVALID
    title = "The server could run on CPUs that it was not given"
    threshold = "any thread of the server whose CPU set, at the end, is not within the one that it was started with"
    threshold_reason = "a CPU set is inherited; only a call of the server's own widens it"
    next_step = "Look for calls of `sched_setaffinity` or thread-pinning options in the server or its runtime."
    phases = None

    def look(self, sample: Sample, case: Case) -> Iterator[Finding]:
        """Look at one sample."""
        threads = [thread for account in accounts(sample) for thread in account.beyond_cpus]
        if threads:
            yield self.finding(
                f"a thread of the server may run on CPUs {threads[0]['cpus']}, and the server was given "
                f"{sample.placement.server_cpus}",
                sample=sample,
                evidence={"threads": threads, "given": sample.placement.server_cpus},
            )
