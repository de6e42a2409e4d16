"""Rules on rounds: how many there are, and how they were made."""

from __future__ import annotations

import math
from collections.abc import Iterator

from touchstone.judge.figures import CPU, PEAK, SPEED
from touchstone.judge.judgement import Severity
from touchstone.judge.language.quantity import seconds
from touchstone.judge.reading.case import Case, SampleGroup
from touchstone.judge.rule import Fired, on_group, on_run, on_sample
from touchstone.judge.statistics.intervals import MIN_ROUNDS
from touchstone.record.sample import Sample


@on_sample(
    "measurement-interrupted",
    Severity.INVALID,
    title="The measurement was interrupted",
    threshold="the engine reports that it was interrupted",
    threshold_reason="windows of different lengths, or of different parts of a load, cannot be compared",
    next_step="Run it again. Whole rounds that were measured before stay valid.",
    tares_too=True,
)
def measurement_interrupted(sample: Sample, case: Case) -> Iterator[Fired]:
    """An interrupted load covers a shorter window than the others."""
    if sample.result is not None and sample.result.interrupted:
        measured = sample.result.window.measured_s
        yield Fired(
            f"the load was interrupted after {seconds(measured)} of its window", evidence={"measured_s": measured}
        )


_ORDER_NOT_DRAWN_RARE = 0.01


@on_run(
    "order-not-drawn",
    Severity.SUSPECT,
    title="The contenders had the same order in every round",
    threshold="all rounds have the same order, and the probability of that in a random order is below 1 %",
    threshold_reason=(
        "two contenders have the same order in three rounds one time in four by chance. Below 1 %, chance is unlikely"
    ),
    next_step="Let touchstone draw the order; `--seed N` makes it reproducible.",
)
def order_not_drawn(case: Case) -> Iterator[Fired]:
    """The contender that is always first is measured on a cool machine.

    touchstone draws a random order in each round, so that such effects affect all contenders equally.
    """
    orders = [tuple(o) for o in case.run.plan.orders]
    contenders = len(orders[0]) if orders else 0
    if contenders < 2 or len(set(orders)) > 1:
        return
    chance = (1 / math.factorial(contenders)) ** (len(orders) - 1)
    if chance < _ORDER_NOT_DRAWN_RARE:
        yield Fired(
            f"all {len(orders)} rounds had the same order of contenders: {', '.join(orders[0])}",
            figures=[*SPEED, *CPU],
            evidence={"order": list(orders[0]), "chance": chance},
        )


@on_group(
    "rounds-incomplete",
    Severity.NOTE,
    twin_too=False,
    title="Rounds are missing",
    threshold="a load has fewer rounds than the plan has",
    threshold_reason="comparisons use only rounds that both contenders have, so the ratios are still right",
    next_step="Find out why they are missing: the run was interrupted, or the findings report a failure.",
)
def rounds_incomplete(group: SampleGroup, case: Case) -> Iterator[Fired]:
    """A round without one of the contenders has no ratio.

    If rounds are missing for a reason that concerns one contender, the remaining rounds are a biased selection.
    """
    done = {s.round for s in group.samples if s.figures}
    missing = sorted(set(range(1, case.run.plan.rounds + 1)) - {r for r in done if r is not None})
    if done and None not in done and missing:
        yield Fired(
            f"{len(missing)} of {case.run.plan.rounds} planned rounds are missing",
            figures=None if group.load else PEAK,
            evidence={"rounds": missing},
        )


@on_run(
    "rounds-share-process",
    Severity.NOTE,
    title="All rounds used the same processes",
    threshold="touchstone did not start the contender, and the contender has two rounds or more",
    threshold_reason="the figures vary only as one process does, so the variation between starts is unknown",
    next_step=(
        "The intervals are valid for these processes only. Restart the services and run again before you draw "
        "general conclusions. Or make the service a stack of the scenario; touchstone then starts it in each round."
    ),
)
def rounds_share_process(case: Case) -> Iterator[Fired]:
    """Part of a service's speed is decided at random when it starts: memory layout, hash seeds, order of compilation.

    If touchstone starts the service, each round has a new process and new random values. Here all rounds have the same
    ones.
    """
    for contender in case.run.plan.contenders:
        rounds = {s.round for s in case.run.samples if s.contender == contender.name and s.round and s.figures}
        if contender.outside and len(rounds) > 1:
            yield Fired(
                f"{contender.name} was the same process in all {len(rounds)} rounds. The intervals show the "
                "variation within this process, not between starts",
                contender=contender.name,
                evidence={"url": contender.outside, "rounds": len(rounds)},
            )


_TOO_FEW_ROUNDS_ENOUGH = 4


@on_group(
    "too-few-rounds",
    Severity.SUSPECT,
    twin_too=False,
    title="Too few rounds",
    threshold="one round was measured: suspect; fewer than 4: a note",
    threshold_reason=(
        "by Student's t, a 95 % interval is 12.7 standard errors wide to each side with two rounds, 4.3 with three "
        "and 3.2 with four. One round gives no interval, and fewer than four show only large differences"
    ),
    next_step="Run more rounds (`--rounds N`), or until the comparisons are decided (`--until-decided`).",
)
def too_few_rounds(group: SampleGroup, case: Case) -> Iterator[Fired]:
    """A single round does not show how much rounds vary.

    A difference between two contenders may be only a difference between two rounds.
    """
    rounds = {s.round for s in group.samples if s.figures}
    if not rounds or len(rounds) >= _TOO_FEW_ROUNDS_ENOUGH:
        return
    enough = len(rounds) >= MIN_ROUNDS
    yield Fired(
        f"only {len(rounds)} round{'s' if len(rounds) != 1 else ''} measured: "
        + ("small differences cannot be detected" if enough else "no interval can be given"),
        severity=Severity.NOTE if enough else Severity.SUSPECT,
        figures=None if group.load else PEAK,
        evidence={"rounds": len(rounds), "wanted": _TOO_FEW_ROUNDS_ENOUGH},
    )
