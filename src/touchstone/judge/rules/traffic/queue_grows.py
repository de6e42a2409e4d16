"""Rule: the queue of waiting requests grew to the end."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence

from touchstone.judge.figures import LATENCY
from touchstone.judge.judgement import Finding, Severity
from touchstone.judge.language.quantity import number
from touchstone.judge.reading.case import Case
from touchstone.judge.reading.traffic import loop, measured_points, slots
from touchstone.judge.rule import SampleRule
from touchstone.record.sample import Sample

GROWTH = 1.1


class QueueGrows(SampleRule):
    """A queue that still grows when the load ends has no steady latency.

    A longer run would show a longer one.
    """

    code = "queue-grows"
    severity = Severity.SUSPECT
    title = "The queue of waiting requests grew to the end"
    threshold = (
        "open loop: the queue's length at the window's end above the number of connections, and each third of the "
        "window above the one before; in slices, the queue at a slice's end above that number in more than half of them"
    )
    threshold_reason = (
        "a queue of one round of the connections empties within one answer; growth through all thirds is a trend "
        "and no burst; a slice begins without any queue, and what waits at the end of most of them is no burst either"
    )
    next_step = "Lower the rate below the knee, or add connections if the server is idle."

    def look(self, sample: Sample, case: Case) -> Iterator[Finding]:
        """Look at one sample."""
        result = sample.result
        if result is None or loop(sample) != "open":
            return
        queue = [p.queue for p in measured_points(result)]
        longest = slots(sample)
        if sample.slices is not None:
            over = sum(length > longest for length in queue)
            if over > len(queue) / 2:
                yield self._finding(
                    f"at the end of {over} of {len(queue)} slices requests waited for a connection, "
                    f"{number(statistics.median(queue))} in the middle one; none does when a slice begins",
                    sample,
                    queue,
                )
        elif _grows(queue) and queue[-1] > longest:
            yield self._finding(
                f"{number(queue[-1])} requests waited for a connection at the end, {number(queue[0])} at the beginning",
                sample,
                queue,
            )

    def _finding(self, statement: str, sample: Sample, queue: Sequence[int]) -> Finding:
        evidence = {"queue": list(queue), "slots": slots(sample)}
        return self.finding(statement, sample=sample, figures=LATENCY, evidence=evidence)


def _grows(queue: Sequence[int]) -> bool:
    """Whether each third of a window is above the one before."""
    third = len(queue) // 3
    if not third:
        return False
    means = [statistics.fmean(q) for q in (queue[:third], queue[third : 2 * third], queue[2 * third :])]
    return means[0] * GROWTH < means[1] and means[1] * GROWTH < means[2]
