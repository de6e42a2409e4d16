"""Rule: throughput, latency and concurrency contradict each other."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.judge.figures import SPEED
from touchstone.judge.judgement import Finding, Severity
from touchstone.judge.language.quantity import number, seconds, share
from touchstone.judge.reading.case import Case
from touchstone.judge.reading.traffic import answered_in_all, loop, pauses, slots
from touchstone.judge.rule import SampleRule
from touchstone.judge.statistics.littles_law import OFF, under_way
from touchstone.record.engine import LoadResult
from touchstone.record.sample import Sample

INVALID = 0.25
STALLED = 0.5
"""How long a slice's last responses may be awaited, in slices, before its whole generations say little of it."""
_IN_WHOLE = (
    "Some requests take longer than a slice: a stall, or an attempt to connect that is repeated after a second. Look "
    "at the server's backlog and locks, and measure it with `--whole-windows`, where they count."
)


class LittlesLaw(SampleRule):
    """Requests under way = rate times mean latency (Little 1961). In a closed loop that is the number of connections.

    An open loop is not bound to it, nor are users who pause, but neither can ever have more requests in service than
    connections.
    """

    code = "littles-law"
    severity = Severity.INVALID
    title = "Rate times mean latency is not the concurrency"
    threshold = (
        "off by more than 10 % suspect, by more than 25 % invalid; both widened by what may hang over the window's "
        "edges: the time that answers were waited for after it, or the longest latency before it with what the engine "
        "waited for a CPU, over its length; of a closed loop in slices the rate is that of whole generations; no "
        "graver than `connections-wait` on the same sample, which explains it"
    )
    threshold_reason = (
        "the law is exact; the engine's own time between an answer and the next request is below 10 % unless it is "
        "saturated, and an error of 25 % needs a wrong unit, count or concurrency"
    )
    next_step = (
        "Check units and the number of connections really held; if the product is short, look at the generator's "
        "own CPU, and for requests that were sent before the window and answered after it: no latency in it is theirs."
    )

    # A connection that is starved holds a request whose latency is never counted: the product falls short by right.
    explained_by = frozenset({"connections-wait"})

    def look(self, sample: Sample, case: Case) -> Iterator[Finding]:
        """Compare the product with the requests that could be under way."""
        result = sample.result
        if result is None or not result.window.measured_s or not result.latency.count:
            return
        open_loop = loop(sample) != "closed"
        # In an open loop latency also counts the wait for a free connection, which is no part of the service.
        mean = result.service.mean if open_loop else result.latency.mean
        n = slots(sample)
        if mean is None or n == 0:
            return
        measured = result.window.measured_s
        rate = _rate(sample, result)
        connecting = (result.connect.mean or 0.0) if result.connections.reconnects else 0.0
        reconnects = result.connections.reconnects / max(1, answered_in_all(result))
        held = under_way(rate, mean, n)
        busy = under_way(rate, mean + connecting * min(1.0, reconnects), n)
        longest = max(mean, result.latency.max or 0.0)
        # What began within the window may end after it, by no more than answers were then waited for; what began
        # before it and ended within is missing, by no more than the longest took.
        after, before = min(longest, max(mean, result.window.drain_s)), longest
        # While the engine waits for a CPU, an answer that is there is not followed by the next request.
        before += max((thread.delayed_s or 0.0 for thread in result.generator.threads), default=0.0)
        over, under = held.above, 0.0 if open_loop or pauses(sample) else busy.below
        off, slack = max((over, after), (under, before), key=lambda side: side[0] - side[1] / measured)
        slack /= measured
        if off <= OFF + slack:
            return
        awaited = _awaited(sample) if off == over else 0.0
        yield self.finding(
            f"{number(rate)}/s times {seconds(mean)} makes {number(held.requests)} requests under way, "
            f"and {'at most ' if open_loop or pauses(sample) else ''}{n} are possible ({share(off)} off)"
            + (
                f"; the rate leaves out up to {seconds(awaited)} after a slice's end, awaiting responses"
                if awaited
                else ""
            ),
            next_step=_IN_WHOLE if awaited else None,
            severity=Severity.INVALID if off > INVALID + slack else Severity.SUSPECT,
            sample=sample,
            figures=SPEED,
            evidence={
                "rate": rate,
                "mean_s": mean,
                "under_way": held.requests,
                "slots": n,
                "off": off,
                "slack": slack,
            },
        )


def _awaited(sample: Sample) -> float:
    """For how long at most responses were awaited after a slice had stopped sending, in seconds; 0 if that is usual."""
    slices = [one for one in sample.slices.slices if one.lap is not None] if sample.slices else []
    longest = max((one.end - one.sending_end for one in slices), default=0.0)
    return longest if sample.slices and longest > STALLED * sample.slices.slice_s else 0.0


def _rate(sample: Sample, result: LoadResult) -> float:
    """Requests per second of those whose latencies were told.

    The latencies of a turn leave out its first generation of requests, which may be a good part of a slow service's
    turn; so the rate is then that of whole generations.
    """
    if sample.slices is not None and loop(sample) == "closed":
        return result.rate.achieved
    return result.latency.count / result.window.measured_s
