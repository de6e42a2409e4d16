"""Rule: the offered rate was not reached."""

from __future__ import annotations

import math
from collections.abc import Iterator

from touchstone.judge.figures import LATENCY
from touchstone.judge.judgement import Finding, Severity
from touchstone.judge.language.quantity import number
from touchstone.judge.reading.case import Case
from touchstone.judge.reading.traffic import keeps_up, loop
from touchstone.judge.rule import SampleRule
from touchstone.record.sample import Sample

REACHED = 0.02
FAR = 0.10


class RateNotReached(SampleRule):
    """Above capacity, latency from the intended send grows for as long as the load lasts.

    Its percentiles then state the length of the run.
    """

    code = "rate-not-reached"
    severity = Severity.SUSPECT
    title = "The offered rate was not reached"
    threshold = (
        "open loop: answered less than 98 % of what was offered, by more than three standard deviations of random "
        "arrivals, and less than 99 % of what came in the window's second half; invalid for latencies below 90 %"
    )
    threshold_reason = (
        "below 98 % the queue gained 2 % of the window's length, 200 ms in ten seconds, which is more than most "
        "latencies that are measured. A slow server has as much under way at a window's end as it answers in one "
        "latency: of a short window that is a share, and in its second half it answers as much as comes"
    )
    next_step = "Lower the rate below the knee; for the highest rate that holds use a load of steps."
    looks_at_tares = True

    def look(self, sample: Sample, case: Case) -> Iterator[Finding]:
        """Look at one sample."""
        result = sample.result
        if result is None or loop(sample) != "open" or not result.rate.offered or not result.window.measured_s:
            return
        offered, achieved = result.rate.offered, result.rate.achieved
        answered = achieved + result.counts.not_right / result.window.measured_s
        chance = 3 / math.sqrt(offered * result.window.measured_s)
        if answered >= offered * (1 - max(REACHED, chance)) or keeps_up(result, offered):
            return
        sent = result.counts.sent / result.window.measured_s
        blame = "the server did not keep up" if sent >= offered * (1 - REACHED) else "the requests were not all sent"
        far = answered < offered * (1 - FAR)
        yield self.finding(
            f"{number(achieved)}/s of {number(offered)}/s offered were answered: {blame}",
            severity=Severity.INVALID if far else Severity.SUSPECT,
            sample=sample,
            figures=LATENCY,
            evidence={
                "offered": offered,
                "achieved": achieved,
                "sent": sent,
                "queue_peak": result.queue.peak if result.queue else None,
            },
        )
