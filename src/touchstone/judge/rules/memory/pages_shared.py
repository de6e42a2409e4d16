"""Rule: memory is counted with shared pages once."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.judge.judgement import Finding, Severity
from touchstone.judge.language.quantity import size
from touchstone.judge.reading.case import Case
from touchstone.judge.rule import SampleRule
from touchstone.record.memory import peak_memory, peak_rss, several_processes
from touchstone.record.sample import Sample

MORE = 1.05


class PagesShared(SampleRule):
    """Processes that were forked share the pages that neither has written since.

    The sum of their RSS counts each such page once for each of them, so their memory is the sum of PSS. Of files'
    pages, which processes of others may map as well, it is at least what one of them maps.
    """

    code = "pages-shared"
    severity = Severity.NOTE
    title = "Memory is counted with shared pages once"
    threshold = "several processes whose RSS, summed, is more than 5 % above the memory that is stated"
    threshold_reason = "below 5 % the two ways of counting tell the same"
    next_step = (
        "Nothing is wrong. Who compares with figures of `ps` or `top` has to know that those count shared pages more "
        "than once."
    )

    def look(self, sample: Sample, case: Case) -> Iterator[Finding]:
        """Look at one sample."""
        watch = sample.result.watch if sample.result else None
        if watch is None or not several_processes(watch):
            return
        counted, summed = peak_memory(watch), peak_rss(watch)
        if counted is None or summed is None or summed <= MORE * counted:
            return
        processes = max((point.processes or 0) for point in watch.series)
        yield self.finding(
            f"{processes} processes hold {size(counted)} with shared pages counted once; the sum of their RSS is "
            f"{size(summed)}",
            sample=sample,
            evidence={"counted": counted, "rss_summed": summed, "processes": processes},
        )
