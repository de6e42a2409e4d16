"""Rules on saturation: open loops whose rate is not kept."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Sequence

from touchstone.judge.figures import LATENCY
from touchstone.judge.judgement import Severity
from touchstone.judge.language.quantity import number
from touchstone.judge.reading.case import Case
from touchstone.judge.reading.traffic import keeps_up, loop, measured_points, slots
from touchstone.judge.rule import Fired, on_sample
from touchstone.record.sample import Sample
from touchstone.vocabulary.limits import DEVIATIONS

_QUEUE_GROWS_GROWTH = 1.1


@on_sample(
    "queue-grows",
    Severity.SUSPECT,
    title="The queue of waiting requests grew until the end of the load",
    threshold=(
        "in an open loop, the queue at the window's end is longer than the number of connections, and it was longer "
        "in each third of the window than in the third before. In slices: more than half of the slices end with a "
        "queue longer than the number of connections"
    ),
    threshold_reason=(
        "a queue of one request per connection empties within one response time. A queue that grows in all thirds is "
        "a trend and not a burst. A slice begins without a queue, so a queue at the end of most slices is not a "
        "burst either"
    ),
    next_step="Lower the rate, or add connections if the server is idle.",
)
def queue_grows(sample: Sample, case: Case) -> Iterator[Fired]:
    """A queue that is still growing when the load ends has no steady latency.

    A longer run would show a longer latency.
    """
    result = sample.result
    if result is None or loop(sample) != "open":
        return
    queue = [p.queue for p in measured_points(result)]
    longest = slots(sample)
    if sample.slices is not None:
        over = sum(length > longest for length in queue)
        if over > len(queue) / 2:
            yield _finding(
                f"requests waited for a connection at the end of {over} of {len(queue)} slices (median: "
                f"{number(statistics.median(queue))} requests), and none at the start of a slice",
                sample,
                queue,
            )
    elif _grows(queue) and queue[-1] > longest:
        yield _finding(
            f"{number(queue[-1])} requests waited for a connection at the end of the load, {number(queue[0])} at its "
            "start",
            sample,
            queue,
        )


def _finding(statement: str, sample: Sample, queue: Sequence[int]) -> Fired:
    evidence = {"queue": list(queue), "slots": slots(sample)}
    return Fired(statement, figures=LATENCY, evidence=evidence)


def _grows(queue: Sequence[int]) -> bool:
    """Whether each third of a window is above the one before."""
    third = len(queue) // 3
    if not third:
        return False
    means = [statistics.fmean(q) for q in (queue[:third], queue[third : 2 * third], queue[2 * third :])]
    return means[0] * _QUEUE_GROWS_GROWTH < means[1] and means[1] * _QUEUE_GROWS_GROWTH < means[2]


_RATE_NOT_REACHED_SHORT = 0.02
_RATE_NOT_REACHED_FAR = 0.10


@on_sample(
    "rate-not-reached",
    Severity.SUSPECT,
    title="The offered rate was not reached",
    threshold=(
        "in an open loop, the rate of responses is below 98 % of the offered rate, and the difference is more than "
        "three standard deviations of random arrivals. In addition, in the window's second half there are fewer "
        "responses than 99 % of the arrivals. Below 90 % of the offered rate, latencies are invalid"
    ),
    threshold_reason=(
        "at 98 %, the wait in the queue grew by 2 % of the window's length, which is 200 ms in ten seconds and more "
        "than most latencies. A slow server that keeps up also leaves some requests unanswered when the window ends. "
        "But in the second half it answers as many requests as arrive"
    ),
    next_step="Lower the rate. To find the highest rate that works, use the phase `capacity`.",
    tares_too=True,
)
def rate_not_reached(sample: Sample, case: Case) -> Iterator[Fired]:
    """If the rate is above the capacity, latencies grow as long as the load lasts.

    The percentiles then depend on the length of the run.
    """
    result = sample.result
    if result is None or loop(sample) != "open" or not result.rate.offered or not result.window.measured_s:
        return
    offered, achieved = result.rate.offered, result.rate.achieved
    answered = achieved + result.counts.not_right / result.window.measured_s
    chance = DEVIATIONS / math.sqrt(offered * result.window.measured_s)
    if answered >= offered * (1 - max(_RATE_NOT_REACHED_SHORT, chance)) or keeps_up(result, offered):
        return
    sent = result.counts.sent / result.window.measured_s
    blame = (
        "the server did not keep up"
        if sent >= offered * (1 - _RATE_NOT_REACHED_SHORT)
        else "not all requests were sent"
    )
    far = answered < offered * (1 - _RATE_NOT_REACHED_FAR)
    yield Fired(
        f"{number(achieved)}/s of the offered {number(offered)}/s were answered: {blame}",
        severity=Severity.INVALID if far else Severity.SUSPECT,
        figures=LATENCY,
        evidence={
            "offered": offered,
            "achieved": achieved,
            "sent": sent,
            "queue_peak": result.queue.peak if result.queue else None,
        },
    )
