"""Rules on drains: messages that a consumer took from a topic."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.judge.judgement import Severity
from touchstone.judge.language.quantity import number, share
from touchstone.judge.reading.case import Case
from touchstone.judge.rule import Fired, on_sample
from touchstone.record.sample import Sample

_ONCE = "the scenario promises that each message is processed once and in order, and the log names every message"


@on_sample(
    "messages-doubled",
    Severity.INVALID,
    title="Messages were processed twice",
    threshold="a message was processed more than once in a drain without a failure",
    threshold_reason=_ONCE,
    next_step=(
        "Look for rebalances of the consumer group during the drain, and for offsets that are committed too late."
    ),
    own_failure=True,
    phases=("drain",),
)
def messages_doubled(sample: Sample, case: Case) -> Iterator[Fired]:
    """Work that is done twice counts twice, so the rate is wrong."""
    yield from _broken(sample, "doubled", "processed twice")


@on_sample(
    "messages-lost",
    Severity.INVALID,
    title="Messages were lost",
    threshold="a message of the topic was never processed",
    threshold_reason=_ONCE,
    next_step="Commit offsets after the work, not before it. Look for errors that are swallowed.",
    own_failure=True,
    phases=("drain",),
)
def messages_lost(sample: Sample, case: Case) -> Iterator[Fired]:
    """A consumer that skips messages finishes sooner, because it does less work."""
    yield from _broken(sample, "lost", "lost")


@on_sample(
    "order-broken",
    Severity.INVALID,
    title="Order within a partition was broken",
    threshold="a message was processed after a later message of the same partition",
    threshold_reason=_ONCE,
    next_step="Process each partition by one worker, in the order of offsets.",
    own_failure=True,
    phases=("drain",),
)
def order_broken(sample: Sample, case: Case) -> Iterator[Fired]:
    """A partition keeps its messages in order.

    A consumer that ignores the order can process them in parallel, and is faster.
    """
    yield from _broken(sample, "out_of_order", "processed out of order within their partition")


def _broken(sample: Sample, what: str, words: str) -> Iterator[Fired]:
    log = sample.drain
    if log is not None and (count := getattr(log, what)):
        all_messages = number(sum(log.produced.values()))
        yield Fired(f"{number(count)} of {all_messages} messages were {words}", evidence=log.model_dump())


_STOOD_STILL = 0.25


@on_sample(
    "partition-stood-still",
    Severity.NOTE,
    title="A partition made no progress while messages waited in it",
    threshold=(
        "gaps take more than a quarter of a partition's time, which lasts from the drain's first message to the "
        "partition's last. A pause between two messages is a gap if it lasts at least 50 ms and at least ten times "
        "the usual pause"
    ),
    threshold_reason=(
        "a fetch, a commit or a garbage collection takes a few percent. A partition that waits for another one is idle "
        "for as long as the other works"
    ),
    next_step=(
        "Check whether the consumer waits for all partitions after each poll, or fills polls from one partition. Look "
        "for rebalances."
    ),
    phases=("drain",),
)
def partition_stood_still(sample: Sample, case: Case) -> Iterator[Fired]:
    """Partitions can be processed in parallel.

    If one partition waits for another, the consumer wastes time. It happens if the consumer waits after each poll until
    all partitions are done, or if it polls one partition at a time.
    """
    log = sample.drain
    if log is None or not log.stood_still:
        return
    partition, most = max(log.stood_still.items(), key=lambda item: item[1])
    if most > _STOOD_STILL:
        yield Fired(
            f"partition {partition} stood still for {share(most)} of its time, while messages waited in it",
            evidence={"stood_still": log.stood_still},
        )


_FULLER = 0.1
_FULLER_BY = 10


@on_sample(
    "partitions-unbalanced",
    Severity.SUSPECT,
    title="Partitions are unbalanced",
    threshold="the fullest partition holds more than 10 % and more than 10 messages above the mean",
    threshold_reason=(
        "touchstone assigns messages to partitions in turn, so their lengths are nearly equal. If one partition has "
        "a tenth more, the drain takes a tenth longer"
    ),
    next_step="Fill the topic with an explicit partition for each message.",
    phases=("drain",),
)
def partitions_unbalanced(sample: Sample, case: Case) -> Iterator[Fired]:
    """A drain ends when the fullest partition is empty. With hashed keys, the length of that partition is random."""
    log = sample.drain
    if log is None or len(log.produced) < 2:
        return
    mean = sum(log.produced.values()) / len(log.produced)
    fullest = max(log.produced.values())
    if fullest > mean * (1 + _FULLER) and fullest - mean > _FULLER_BY:
        yield Fired(
            f"the fullest of {len(log.produced)} partitions holds {number(fullest)} messages, while the mean is "
            f"{number(mean)}",
            evidence={"produced": log.produced},
        )
