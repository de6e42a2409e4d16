"""Rules: Whether a contender was warm, and its rate level, when it was measured."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.judge.figures import CPU, SPEED
from touchstone.judge.judgement import Doubt, Severity
from touchstone.judge.language.quantity import number, seconds, share
from touchstone.judge.reading.case import Case, Group
from touchstone.judge.reading.drift import falling, rising
from touchstone.judge.rule import Fired, on_group, on_sample
from touchstone.record.evidence.slices import WarmUp
from touchstone.record.sample import Sample


@on_group(
    "no-steady-state",
    Severity.SUSPECT,
    title="No steady state was reached",
    threshold="changepoint analysis calls the series no steady state in more than half of the rounds",
    threshold_reason=(
        "the last three tenths of the window must be of one level, by more than the margin; rounds may be disturbed "
        "by chance, but not most of them"
    ),
    next_step="Lengthen warm-up and window (`--thorough`); if it never settles, report the range and not a figure.",
)
def no_steady_state(group: Group, case: Case) -> Iterator[Fired]:
    """The level still changed near the end of the window.

    Another length of the window would give another figure.
    """
    hits, seen = case.shaped(group, "no steady state")
    if not hits:
        return
    yield Fired(
        f"it changed its level near the end in {len(hits)} of {seen} round(s)",
        figures=[*SPEED, *CPU],
        evidence={"samples": [s.sample for s in hits], "changepoints_s": [s.changepoints_s for s in hits]},
    )


@on_group(
    "slowdown-in-window",
    Severity.SUSPECT,
    title="The server became slower within the window",
    threshold="changepoint analysis calls the series slowdown in more than half of the rounds",
    threshold_reason=(
        "a change below the margin does not matter; next to others three windows of a hundred look so by chance: of "
        "nine contenders and loads, one has two such rounds of four in every seventeenth run, and hardly ever three"
    ),
    next_step="Look for growing tables, queues, heaps and logs; measure longer to see where it ends.",
)
def slowdown_in_window(group: Group, case: Case) -> Iterator[Fired]:
    """A server that slows down under load has no steady figure.

    The longer the load, the worse it gets.
    """
    hits, seen = case.shaped(group, "slowdown")
    if not hits:
        return
    yield Fired(
        f"it was faster at its beginning in {len(hits)} of {seen} round(s)",
        figures=[*SPEED, *CPU],
        doubt=Doubt(
            faster=max(level for s in hits for level in s.levels),
            slower=None,
            reason="how far it falls, nobody has seen",
        ),
        evidence={"samples": [s.sample for s in hits], "changepoints_s": [s.changepoints_s for s in hits]},
    )


@on_group(
    "still-falling",
    Severity.SUSPECT,
    title="It got slower while it was measured",
    threshold=(
        "closed loop, in windows too short for changepoints: the second half's rate below the first's by more than "
        "10 % in two thirds of three or more rounds, and by more than 15 % in the middle one"
    ),
    threshold_reason=(
        "on a busy machine halves of one second differ by 10 to 20 %, upwards as often as downwards; three times "
        "downwards is hardly chance"
    ),
    next_step="Measure longer (`--thorough`) to see where it ends, and look at what grows with the requests.",
)
def still_falling(group: Group, case: Case) -> Iterator[Fired]:
    """A quick run's window is too short for a changepoint, and long enough to see that each further second is slower.

    What grows with the requests (a table, a queue, a lock that more and more wait for) goes on beyond the window.
    """
    trend = falling(group, case)
    if trend is None:
        return
    yield Fired(
        f"in {trend.rounds} of {len(trend.by_sample)} round(s) the second half of the window was slower than the "
        f"first, by {share(trend.middle)} in the middle one",
        figures=[*SPEED, *CPU],
        doubt=Doubt(slower=None, reason="it goes on with every further request"),
        evidence={"falls": trend.by_sample},
    )


@on_group(
    "still-rising",
    Severity.SUSPECT,
    title="The rate was still rising",
    threshold=(
        "closed loop, in windows too short for changepoints: the second half's rate above the first's by more than "
        "10 % in two thirds of three or more rounds, and by more than 15 % in the middle one"
    ),
    threshold_reason=(
        "on a busy machine halves of one second differ by 10 to 20 %, upwards as often as downwards; three times "
        "upwards is hardly chance"
    ),
    next_step="Run with the normal or the thorough profile, or read the figures as those of a young process.",
)
def still_rising(group: Group, case: Case) -> Iterator[Fired]:
    """A quick run's window is too short for a changepoint, and long enough to see a runtime that still compiles.

    Its rate, latency and CPU time are those of a young process, many times off what it reaches later.
    """
    trend = rising(group, case)
    if trend is None:
        return
    yield Fired(
        f"in {trend.rounds} of {len(trend.by_sample)} round(s) the second half of the window was faster than the "
        f"first, by {share(trend.middle)} in the middle one",
        figures=[*SPEED, *CPU],
        doubt=Doubt(faster=None, reason="how far it will still rise, nobody has seen"),
        evidence={"rises": trend.by_sample},
    )


@on_sample(
    "still-warming-up",
    Severity.SUSPECT,
    title="The warm-up's time was used up while the contender still got faster",
    threshold=(
        "a load in slices whose warm-up did not end flat: from stretch to stretch its CPU per request fell by 3 % or "
        "more, or its rate grew by 10 % (3 % where its CPU is not known), or it still worked while it rested"
    ),
    threshold_reason=(
        "what is below 3 % goes under in the noise of an ordinary machine; who saves more is still far from where it "
        "will be. A rate moves by 10 % with what others take"
    ),
    next_step="Take a longer profile: the figures of a young process are the peak phase's.",
    phases=("load",),
)
def still_warming_up(sample: Sample, case: Case) -> Iterator[Fired]:
    """A runtime that compiles while it runs is measured on its way up: what was seen is a lower bound of its speed.

    A comparison may then say that it is at least so fast, and never that it is slower. Where it was warm in most
    rounds, and in three or more, those are compared and the others are left out.
    """
    warm_up = sample.slices.warm_up if sample.slices else None
    if warm_up is None or warm_up.ended != "budget":
        return
    yield Fired(
        f"after {seconds(warm_up.seconds)} and {number(warm_up.requests)} requests {_still(warm_up)}",
        figures=[*SPEED, *CPU],
        doubt=Doubt(faster=None, this_round=True, reason="how far it will still rise, nobody has seen"),
        evidence=warm_up.model_dump(),
    )


def _still(warm_up: WarmUp) -> str:
    """What went on when the time was used up."""
    if warm_up.relief is not None and warm_up.relief >= (warm_up.growth or 0.0):
        return f"its CPU per request still fell, by {share(warm_up.relief)} at the end"
    if warm_up.restless and (warm_up.growth or 0.0) <= 0:
        return "it still worked while it should have rested"
    grew = "" if warm_up.growth is None else f", by {share(warm_up.growth)} at the end"
    return f"its rate still rose{grew}"


@on_group(
    "warm-up-in-window",
    Severity.SUSPECT,
    title="Warm-up reached into the window",
    threshold="changepoint analysis calls the series warm-up in more than half of the rounds",
    threshold_reason=(
        "a change below the margin does not matter; next to others three windows of a hundred look so by chance: of "
        "nine contenders and loads, one has two such rounds of four in every seventeenth run, and hardly ever three"
    ),
    next_step="Lengthen the warm-up (`warmup_s` of the load), or read the figure as that of a young process.",
)
def warm_up_in_window(group: Group, case: Case) -> Iterator[Fired]:
    """A runtime that still compiles is slower than it will be.

    The mean over warm-up and steady state is a figure of neither.
    """
    hits, seen = case.shaped(group, "warm-up")
    if not hits:
        return
    told = f"it was slower at its beginning in {len(hits)} of {seen} round(s), in this one by "
    for hit in hits:
        yield Fired(
            told + share(1 - min(hit.levels)),
            sample=next(sample for sample in group.samples if sample.id == hit.sample),
            figures=[*SPEED, *CPU],
            doubt=Doubt(
                faster=1 / min(hit.levels),
                slower=max(hit.levels),
                reason="its last level is that of a service that is warm",
            ),
            evidence={"changepoints_s": hit.changepoints_s, "levels": hit.levels},
        )


@on_group(
    "window-too-short",
    Severity.NOTE,
    title="The window is too short to tell a steady state",
    threshold="fewer than 8 points or 5 s in the windows of all rounds",
    threshold_reason=(
        "a change needs three points on either side to be told from noise, and a collector's pause must not be "
        "taken for one"
    ),
    next_step="Run with the normal or the thorough profile.",
)
def window_too_short(group: Group, case: Case) -> Iterator[Fired]:
    """In two seconds nobody can see whether a runtime has finished compiling."""
    seen = case.steady_of(group)
    # A quick run says by its name that it is short; its reader has been told.
    if seen and all(s.shape == "too short" for s in seen) and case.run.plan.profile != "quick":
        yield Fired(f"the windows of all {len(seen)} round(s) are too short")
