"""Rule: a process of the server left its session or its cgroup."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.judge.judgement import Finding, Severity
from touchstone.judge.language.quantity import seconds, size
from touchstone.judge.reading.case import Case
from touchstone.judge.rule import SampleRule
from touchstone.record.sample import Sample


class ProcessEscaped(SampleRule):
    """What a process uses that is no longer in the tree is in no figure, and no memory limit holds it."""

    code = "process-escaped"
    severity = Severity.INVALID
    title = "A process of the server left its session or its cgroup"
    threshold = (
        "any process that was started by the contender and is in neither its session nor its cgroup; or one of its "
        "tree outside of its cgroup"
    )
    threshold_reason = "both are inherited: forking, or becoming a daemon, leaves the cgroup as it is"
    next_step = "Start the server in the foreground; where it needs a helper, leave the helper in the cgroup."
    own_failure = True
    phases = None

    def look(self, sample: Sample, case: Case) -> Iterator[Finding]:
        """Look at one sample."""
        found = [process for account in sample.confinement for process in (*account.strays, *account.left_cgroup)]
        if found:
            first = found[0]
            used = ""
            if first.cpu_s is not None and first.rss is not None:
                used = f" that used {seconds(first.cpu_s)} of CPU and {size(first.rss)}"
            yield self.finding(
                f"process {first.pid}{used} was outside of the contender's session or cgroup",
                sample=sample,
                evidence={"processes": [process.model_dump(exclude_unset=True) for process in found[:5]]},
            )
