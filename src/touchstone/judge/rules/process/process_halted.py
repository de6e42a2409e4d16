"""Rule: the server was stopped by a signal."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.judge.judgement import Finding, Severity
from touchstone.judge.reading.case import Case
from touchstone.judge.rule import SampleRule
from touchstone.record.sample import Sample


class ProcessHalted(SampleRule):
    """A process that is stopped answers nobody, and looks like one that is slow at times.

    Whoever runs under the same user may stop it: a debugger, a shell, or another contender.
    """

    code = "process-halted"
    severity = Severity.INVALID
    title = "The server was stopped by a signal"
    threshold = "any stop by SIGSTOP, SIGTSTP, SIGTTIN or SIGTTOU of a process of the contender's; a tracer's is none"
    threshold_reason = (
        "nothing stops a server that has no terminal but a signal that somebody sends; for how long is not known"
    )
    next_step = (
        "Look for who sent it: what else runs on the machine, and the other contenders (`touchstone run` alone)."
    )
    phases = None

    def look(self, sample: Sample, case: Case) -> Iterator[Finding]:
        """Look at one sample."""
        if any(account.halted for account in sample.confinement):
            yield self.finding("a process of the server's was stopped by a signal while it was to serve", sample=sample)
