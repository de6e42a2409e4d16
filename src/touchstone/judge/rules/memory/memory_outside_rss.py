"""Rule: memory was held that no process shows."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.judge.figures import MEMORY
from touchstone.judge.judgement import Finding, Severity
from touchstone.judge.language.quantity import size
from touchstone.judge.reading.case import Case
from touchstone.judge.rule import SampleRule
from touchstone.record.sample import Sample

SHARE = 0.05
LEAST = 1 << 20


class MemoryOutsideRss(SampleRule):
    """Files in memory (`memfd`, `/dev/shm`) that are written and not mapped are in no process's RSS or PSS.

    Nor are huge pages. They take the machine's memory all the same.
    """

    code = "memory-outside-rss"
    severity = Severity.SUSPECT
    title = "Memory was held that no process shows"
    threshold = (
        "huge pages, and shared memory charged to the server's cgroup and mapped by none of its processes: more than "
        "1 MiB and more than 5 % of its RSS"
    )
    threshold_reason = "runtimes keep a few pages of counters in such files; 5 % is the least difference that matters"
    next_step = "Compare the cgroup's memory (`cgroup_peak`) in place of RSS."
    phases = None

    def look(self, sample: Sample, case: Case) -> Iterator[Finding]:
        """Look at one sample."""
        for account in sample.confinement:
            hidden = account.unmapped_shared
            if hidden > LEAST and hidden > SHARE * account.resident:
                hold = ["hold_rss_per_connection", "hold_anon_per_connection", "hold_rss_base", "hold_given_back"]
                yield self.finding(
                    f"{size(hidden)} were in no process's RSS, next to {size(account.resident)} of RSS",
                    sample=sample,
                    figures=[*MEMORY, *hold],
                    evidence={"unmapped_shared": hidden, "rss": account.resident},
                )
                return
