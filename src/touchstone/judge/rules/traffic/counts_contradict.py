"""Rule: counts and rates contradict each other."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.judge.figures import LATENCY
from touchstone.judge.judgement import Finding, Severity
from touchstone.judge.language.quantity import number, seconds
from touchstone.judge.reading.case import Case
from touchstone.judge.reading.traffic import loop, slots
from touchstone.judge.rule import SampleRule
from touchstone.record.engine import LoadResult
from touchstone.record.sample import Sample

RATE = 0.02
SUM = 0.01


class CountsContradict(SampleRule):
    """Rate is count over time, and every request ends in one way.

    A total quoted a thread, or timeouts left out, show here.
    """

    code = "counts-contradict"
    severity = Severity.INVALID
    title = "Counts and rates contradict each other"
    threshold = (
        "closed loop: the rate more than 2 % off correct responses over the window, or over the whole generations of "
        "slices; any loop: right, wrong and failed requests together are not those sent (in older records by more than "
        "1 %); latencies for fewer requests than were answered rightly, beyond what can be under way at the edges"
    )
    threshold_reason = (
        "counts are exact; a rate and latencies are so but for the requests under way when the window opens and closes"
    )
    next_step = "The record contradicts itself: measure again, and report it with the record if it comes back."
    looks_at_tares = True

    def look(self, sample: Sample, case: Case) -> Iterator[Finding]:
        """Look at one sample."""
        result = sample.result
        if result is None or not result.counts.sent or not result.window.measured_s:
            return
        counts, edge = result.counts, 2 * slots(sample)
        problems: dict[str, str] = {}
        # Of slices' first generations there are no latencies, and none is under way at the edges of the whole ones.
        whole = sample.slices is None
        responses, took_s = _timed(sample, result)
        rate = responses / took_s if took_s > 0 else result.rate.achieved
        slack = (edge / took_s if whole else 0.0) + RATE * max(rate, result.rate.achieved)
        if loop(sample) == "closed" and abs(rate - result.rate.achieved) > slack:
            problems["rate"] = (
                f"{number(responses)} correct responses in {seconds(took_s)} make {number(rate)}/s, "
                f"not {number(result.rate.achieved)}/s"
            )
        ended = counts.ok + counts.not_right
        # In older records a timeout may be among the unanswered too, and malformed bytes may be of no request.
        unsure = edge + SUM * counts.sent + counts.errors.timeout if result.is_of_older_engine else 0
        if abs(counts.sent - ended) > unsure:
            problems["sum"] = f"{number(counts.sent)} requests were sent and {number(ended)} ended in some way"
        if whole and counts.ok - result.latency.count > edge + SUM * counts.ok:
            problems["latency"] = (
                f"{number(counts.ok)} requests were answered correctly, and the latencies are of "
                f"{number(result.latency.count)}"
            )
        for statement in problems.values():
            yield self.finding(
                statement,
                sample=sample,
                figures=["throughput", *LATENCY, "cpu_per_request", "error_share"],
                evidence={
                    "counts": counts.model_dump(),
                    "rate": result.rate.model_dump(),
                    "latencies": result.latency.count,
                },
            )


def _timed(sample: Sample, result: LoadResult) -> tuple[int, float]:
    """The correct responses that the rate of a closed loop counts, and the seconds in which they came."""
    if sample.slices is None:
        return result.counts.ok, result.window.measured_s
    counted = [one.generations for one in sample.slices.slices if one.lap is not None and one.generations]
    return sum(one.responses for one in counted), sum(one.seconds for one in counted)
