"""Rule: the rate still changed when a start under load ended."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.judge.judgement import Finding, Severity
from touchstone.judge.language.quantity import number
from touchstone.judge.reading.case import Case, Group
from touchstone.judge.reading.peak import PEAK_FIGURES
from touchstone.judge.rule import GroupRule

SHARE = 0.5


class PeakNotReached(GroupRule):
    """A runtime that still gets faster when the measurement ends has its peak yet before it.

    The rounds in which it did settle are then a choice, and the quick ones among them.
    """

    code = "peak-not-reached"
    severity = Severity.SUSPECT
    title = "The peak was not reached in every round"
    threshold = (
        "the rate after exec changed its level within the last three tenths of the time, or the time was too short to "
        "tell, in any round: suspect; in half of the rounds or more: invalid"
    )
    threshold_reason = (
        "a round without a peak has no time to peak and drops out of the median, which then is too short; with half of "
        "the rounds gone the median itself may be one that was never reached"
    )
    next_step = "Take a longer profile; until then compare what was served in total, which needs no peak."
    phases = ("peak",)

    def look(self, group: Group, case: Case) -> Iterator[Finding]:
        """Look at one contender."""
        peaks = [case.peaks[s.id] for s in group.samples if s.id in case.peaks]
        missed = [peak for peak in peaks if peak.time_s is None]
        if not missed:
            return
        watched = max((s.peak.within_s for s in group.samples if s.peak), default=0.0)
        shapes = ", ".join(sorted({peak.shape for peak in missed}))
        yield self.finding(
            f"no peak was reached within {number(watched)} s of exec in {len(missed)} of {len(peaks)} round(s): "
            f"{shapes}",
            severity=Severity.INVALID if len(missed) >= SHARE * len(peaks) else Severity.SUSPECT,
            group=group,
            figures=list(PEAK_FIGURES),
            evidence={"samples": [p.sample for p in missed], "changepoints_s": [p.changepoints_s for p in missed]},
        )
