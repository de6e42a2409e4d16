"""Rules: Messages that a consumer took from a topic."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.judge.judgement import Severity
from touchstone.judge.language.quantity import number, share
from touchstone.judge.reading.case import Case
from touchstone.judge.rule import Fired, on_sample
from touchstone.record.sample import Sample


@on_sample(
    "messages-doubled",
    Severity.INVALID,
    title="Messages were processed twice",
    threshold="any message processed more than once in a drain without a failure",
    threshold_reason="the scenario promises each message once and in order, and the log names every one of them",
    next_step="Look for rebalances during the drain, and for commits that come too late.",
    own_failure=True,
    phases=("drain",),
)
def messages_doubled(sample: Sample, case: Case) -> Iterator[Fired]:
    """Work done twice is counted twice, and a rate over messages then says too much or too little."""
    log = sample.drain
    if log is not None and log.doubled:
        yield Fired(
            f"{number(log.doubled)} of {number(sum(log.produced.values()))} messages: messages were processed twice",
            evidence=log.model_dump(),
        )


@on_sample(
    "messages-lost",
    Severity.INVALID,
    title="Messages were lost",
    threshold="any message of the topic that was never processed",
    threshold_reason="the scenario promises each message once and in order, and the log names every one of them",
    next_step="Commit offsets after the work and not before; look for errors that are swallowed.",
    own_failure=True,
    phases=("drain",),
)
def messages_lost(sample: Sample, case: Case) -> Iterator[Fired]:
    """A consumer that skips messages is done sooner."""
    log = sample.drain
    if log is not None and log.lost:
        yield Fired(
            f"{number(log.lost)} of {number(sum(log.produced.values()))} messages: messages were lost",
            evidence=log.model_dump(),
        )


@on_sample(
    "order-broken",
    Severity.INVALID,
    title="Order within a partition was broken",
    threshold="any message processed after a later one of its partition",
    threshold_reason="the scenario promises each message once and in order, and the log names every one of them",
    next_step="Process each partition by one worker, in the order of offsets.",
    own_failure=True,
    phases=("drain",),
)
def order_broken(sample: Sample, case: Case) -> Iterator[Fired]:
    """Order is what a partition is for.

    Without it draining is easily parallel, and faster.
    """
    log = sample.drain
    if log is not None and log.out_of_order:
        yield Fired(
            f"{number(log.out_of_order)} of {number(sum(log.produced.values()))} messages: order within a "
            f"partition was broken",
            evidence=log.model_dump(),
        )


PARTITION_STOOD_STILL_STOOD = 0.25


@on_sample(
    "partition-stood-still",
    Severity.NOTE,
    title="A partition stood still while messages waited in it",
    threshold=(
        "gaps of ten times the usual one, and of at least 50 ms, make up more than a quarter of a partition's time "
        "from the drain's first message to its own last"
    ),
    threshold_reason=(
        "a fetch, a commit or a collector's pause takes a few percent; a partition that waits for another one "
        "stands still for as long as the other works"
    ),
    next_step=(
        "Look for a wait for all partitions after each poll, for polls that are filled from one partition, and for "
        "rebalances."
    ),
    phases=("drain",),
)
def partition_stood_still(sample: Sample, case: Case) -> Iterator[Fired]:
    """Partitions are worked through next to each other; one that waits for another wastes what it could do.

    A barrier after each poll does that, and so does a consumer that takes its messages from one partition at a time.
    """
    log = sample.drain
    if log is None or not log.stood_still:
        return
    partition, most = max(log.stood_still.items(), key=lambda item: item[1])
    if most > PARTITION_STOOD_STILL_STOOD:
        yield Fired(
            f"partition {partition} stood still for {share(most)} of its time, with messages waiting in it",
            evidence={"stood_still": log.stood_still},
        )


PARTITIONS_UNBALANCED_SHARE = 0.1
PARTITIONS_UNBALANCED_LEAST = 10


@on_sample(
    "partitions-unbalanced",
    Severity.SUSPECT,
    title="Partitions are unbalanced",
    threshold="the fullest partition holds more than 10 % and more than 10 messages above the mean",
    threshold_reason=(
        "messages are laid into partitions by number, so that they are equal but for a remainder; a tenth "
        "prolongs the drain by a tenth"
    ),
    next_step="Fill the topic with an explicit partition a message.",
    phases=("drain",),
)
def partitions_unbalanced(sample: Sample, case: Case) -> Iterator[Fired]:
    """The fullest partition decides when a drain ends.

    Its length is chance if keys were hashed.
    """
    log = sample.drain
    if log is None or len(log.produced) < 2:
        return
    mean = sum(log.produced.values()) / len(log.produced)
    fullest = max(log.produced.values())
    if fullest > mean * (1 + PARTITIONS_UNBALANCED_SHARE) and fullest - mean > PARTITIONS_UNBALANCED_LEAST:
        yield Fired(
            f"the fullest of {len(log.produced)} partitions holds {number(fullest)} messages, the mean is "
            f"{number(mean)}",
            evidence={"produced": log.produced},
        )
