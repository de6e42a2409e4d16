"""Rule: the level that a start under load settled on was below an earlier one."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.judge.judgement import Finding, Severity
from touchstone.judge.reading.case import Case, Group
from touchstone.judge.reading.peak import PEAK_FIGURES
from touchstone.judge.rule import GroupRule


class PeakNotKept(GroupRule):
    """What a contender settled on is called its peak, and it had been faster before.

    A warm-up that ends lower is no warm-up: a cache filled up, a collector began, or the machine did something else.
    """

    code = "peak-not-kept"
    severity = Severity.SUSPECT
    title = "It had been faster before it settled"
    threshold = "changepoint analysis calls the start a slowdown in at least half of the rounds"
    threshold_reason = "one round may be disturbed by chance, half of them are not; levels count from the margin on"
    next_step = "Look at the rate over time, and for what grows: a table, a heap, a queue. Do not call its rate a peak."
    phases = ("peak",)

    def look(self, group: Group, case: Case) -> Iterator[Finding]:
        """Look at one contender."""
        peaks = [case.peaks[s.id] for s in group.samples if s.id in case.peaks]
        slower = [peak for peak in peaks if peak.shape == "slowdown"]
        if not slower or len(slower) < len(peaks) / 2:
            return
        yield self.finding(
            f"it settled below an earlier level in {len(slower)} of {len(peaks)} round(s)",
            group=group,
            figures=list(PEAK_FIGURES),
            evidence={"samples": [p.sample for p in slower], "changepoints_s": [p.changepoints_s for p in slower]},
        )
