"""A stated result measured again: reproduced, contradicted, or undecided with its power."""

from __future__ import annotations

import math
import shlex
from dataclasses import dataclass, replace
from enum import StrEnum

from touchstone.failure import InvalidRunError, UsageError
from touchstone.judge.comparison.across import differences
from touchstone.judge.judge import judge
from touchstone.judge.judgement import Comparison, Judgement, Verdict
from touchstone.manifest.catalogue import ScenarioFolder
from touchstone.plan.plan import RunRequest
from touchstone.record.run import Run
from touchstone.record.store import load_run
from touchstone.run.measure import RunConditions, measure
from touchstone.vocabulary.figure import FIGURES


class Answer(StrEnum):
    """What a second measurement says of a stated result."""

    REPRODUCED = "reproduced"
    """It decides as stated."""
    CONTRADICTED = "contradicted"
    """It decides otherwise, and the two intervals exclude each other by more than the margin."""
    UNDECIDED = "undecided"


@dataclass(frozen=True)
class Rerun:
    """A headline figure that was measured a second time."""

    answer: Answer
    stated: Comparison
    again: Comparison
    run: Run
    machines: list[str]
    """What differs between the two machines, in words."""
    sources: list[str]
    """Contenders that were built from other sources, commands or tools than the stated ones."""

    @property
    def power(self) -> float | None:
        """The smallest difference, as a share, that the second measurement could show; None without an interval."""
        known = self.again.interval
        return None if known is None or known.low <= 0 else math.sqrt(known.high / known.low) - 1


def headline(judgement: Judgement) -> Comparison:
    """The comparison to refute: the first decided one among headline figures of a load, else the first of a load.

    Raises InvalidRunError for a run that compares nothing under a load.
    """
    found = [
        c
        for c in judgement.comparisons
        if c.phase == "load" and c.interval is not None and c.verdict is not Verdict.INVALID
    ]
    leading = [c for c in found if FIGURES[c.figure].headline] or found
    if not leading:
        raise InvalidRunError("the run compares no contenders under a load, so that nothing can be measured again")
    return next((c for c in leading if c.decided), leading[0])


def refuse_unrepeatable(run: Run, *, revisions: bool) -> None:
    """Raise UsageError for two revisions, or for services that ran already. It names the run's command.

    Args:
        run: a bundle's.
        revisions: whether its contenders are two revisions.

    """
    outside = [contender.name for contender in run.plan.contenders if contender.outside]
    if revisions:
        why, place = (
            "its contenders are two revisions, which no scenario's stacks are",
            "in a clone of their repository",
        )
    elif outside:
        why, place = f"{', '.join(outside)} ran already, and nothing says how to build it", "where such services run"
    else:
        return
    words = run.plan.command
    # The words are another author's.
    shown = words[:1] == ["touchstone"] and all(map(str.isprintable, words))
    command = f"`{shlex.join(words)}`" if shown else "the command that made the run"
    raise UsageError(f"the run cannot be repeated from a bundle: {why}", fix=f"repeat {command} {place}")


def measure_again(
    run: Run, sources: dict[str, str], folder: ScenarioFolder, minutes: float, conditions: RunConditions
) -> Rerun:
    """Build the two contenders of the headline, and load them in turn until it is decided.

    Raises UsageError for a scenario that is not the run's, TouchstoneError if a contender cannot be measured.
    """
    plan, stated = run.plan, headline(judge(run))
    if (folder.scenario.name, folder.scenario.version) != (plan.scenario, plan.scenario_version):
        raise UsageError(
            f"the bundle is of {plan.scenario} version {plan.scenario_version}, and here is "
            f"{folder.scenario.name} version {folder.scenario.version}",
            fix="check out the sources that the bundle was made from, or name their folder: --scenario FOLDER",
        )
    request = RunRequest(
        profile="quick",
        phases=("load",),
        loads=(stated.load or "",),
        margin=plan.margin,
        confidence=plan.confidence,
        whole_windows=plan.whole_windows,
    )
    asked = replace(
        conditions, until_decided_s=minutes * 60, still_open=lambda c: c.figure == stated.figure and not _settled(c)
    )
    store = measure(folder, request, stacks=[stated.baseline, stated.contender], conditions=asked)
    measured = load_run(store.folder)
    judgement = judge(measured.against(stated.baseline))
    again = next((c for c in judgement.comparisons if (*c.key, c.baseline) == (*stated.key, stated.baseline)), None)
    if again is None or judgement.failed:
        why = judgement.failed[0].reason if judgement.failed else "one of the two has no such figure here"
        raise InvalidRunError(f"the headline could not be measured again: {why}", fix=f"see {store.folder}/report.html")
    built = {s.contender: s.build.key for s in measured.samples if s.build is not None}
    return Rerun(
        answer=compare_answers(stated, again, plan.margin),
        stated=stated,
        again=again,
        run=measured,
        machines=differences(run.environment, measured.environment),
        sources=sorted(name for name, key in built.items() if sources.get(name) != key),
    )


def compare_answers(stated: Comparison, again: Comparison, margin: float) -> Answer:
    """What the second interval says of the first. Two intervals that overlap within the margin contradict nothing."""
    known, claimed = again.interval, stated.interval
    if known is None or claimed is None or again.verdict is Verdict.INVALID:
        return Answer.UNDECIDED
    apart = known.low > claimed.high * (1 + margin) or known.high < claimed.low / (1 + margin)
    if apart:
        return Answer.CONTRADICTED if again.outcome is not stated.outcome else Answer.UNDECIDED
    return Answer.REPRODUCED if again.outcome is stated.outcome and _settled(again) else Answer.UNDECIDED


def _settled(comparison: Comparison) -> bool:
    return comparison.outcome.value != "undecided"
