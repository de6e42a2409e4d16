"""Finds the commit that made a figure worse: git's bisection, each step a comparison that ends as soon as it can."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

from pydantic import ValidationError, model_validator

from touchstone.failure import ExitCode, InvalidRunError, TouchstoneError, UsageError
from touchstone.judge.comparison.pair import Revision
from touchstone.judge.judgement import Comparison, FailedContender, Verdict
from touchstone.judge.statistics.intervals import simultaneous
from touchstone.record.base import Record
from touchstone.report.format import plural, ratio, ratio_interval
from touchstone.revisions.ab import RevisionQuestion, compare_revisions
from touchstone.revisions.repository import Repository
from touchstone.run.measure import RunConditions
from touchstone.run.pair import MeasuredPair
from touchstone.run.progress import Display
from touchstone.vocabulary.figure import FIGURES, Better
from touchstone.whole_file import write_whole


class Side(StrEnum):
    """On which side a commit is."""

    GOOD = "good"
    BAD = "bad"
    SKIP = "skip"
    """It does not build, breaks its contract, or stayed undecided in the time: git's code 125."""


class BisectionStep(Comparison):
    """One commit against the good one. If it was skipped, `reason` says why."""

    commit: str
    subject: str
    side: Side = Side.SKIP
    run: str = ""
    """The id of the run."""


_OWN = {"contender", "baseline", "reason", "sentence"}
"""What a step says of itself; the rest is the comparison's."""


class BisectionState(Record):
    """A search as it stands. It is on disk after every step, so that an interrupted one goes on where it was."""

    good: str
    bad: str
    """Commits."""
    figure: str
    asked: list[str] = []
    """Margin, scenario, stack and load: what is known holds for no other question."""
    load: str | None = None
    """The load under which the figure is worst; None until the first step, and for what has no load."""
    effect: float | None = None
    """The ratio bad/good, as the first step saw it."""
    steps: list[BisectionStep] = []

    @model_validator(mode="before")
    @classmethod
    def _complete(cls, data: Any) -> Any:
        """Steps of earlier versions do not say what they compare: it is what the search is about."""
        match data:
            case {"figure": str(figure), "good": good, "steps": [*steps]} if figure in FIGURES:
                same = {"phase": FIGURES[figure].phase, "figure": figure, "load": data.get("load"), "baseline": good}
                data["steps"] = [
                    same | {"contender": step.get("commit")} | step if isinstance(step, dict) else step
                    for step in steps
                ]
        return data

    @property
    def border(self) -> float:
        """The ratio halfway between good and bad, by logarithms: what keeps clear of it is on one side or the other."""
        assert self.effect is not None
        return math.sqrt(self.effect)

    def commits(self, side: Side) -> list[str]:
        """The commits that are known to be on a side."""
        return [step.commit for step in self.steps if step.side is side]


class NotWorseError(TouchstoneError):
    """The bad revision is not worse, or nobody can say so: there is nothing to search for."""

    def __init__(self, what: str, *, where: str, fix: str, undecided: bool) -> None:
        super().__init__(what, where=where, fix=fix)
        self.exit_code = ExitCode.UNDECIDED if undecided else ExitCode.FAILED


@dataclass(frozen=True)
class BisectionResult:
    """What a search came to."""

    search: BisectionState
    candidates: list[Revision]
    """The commits of which one is the first bad one: several if those in between had to be skipped."""


@dataclass(frozen=True)
class Bisection:
    """A search for the first commit at which a figure is worse."""

    repository: Repository
    good: Revision
    bad: Revision
    question: RevisionQuestion
    """The question about one figure, with the margin by which the bad revision must be worse."""
    here: Path
    """Where the user is."""
    conditions: RunConditions
    """The options; their time limit holds for each step."""
    display: Callable[[], Display]
    """Makes what sees a step's progress."""
    say: Callable[[str], None]
    """Called with each result."""

    @property
    def figure(self) -> str:
        """The figure that is asked about."""
        (figure,) = self.question.terms.figures
        return figure

    @property
    def memory(self) -> Path:
        """The file that holds what is known."""
        return self.conditions.results / f"bisect-{self.good.commit[:10]}-{self.bad.commit[:10]}-{self.figure}.json"

    def find(self) -> BisectionResult:
        """Search, and go on where an earlier search was interrupted.

        Raises:
            NotWorseError: the bad revision is not worse than the good one.
            InvalidRunError: one of the two does not build, breaks its contract, or was not measured.
            TouchstoneError: no such scenario, stack or load.

        """
        search = self._remembered()
        count = self.repository.between(self.good, self.bad)
        steps = 1 + math.ceil(math.log2(max(count, 1)))
        if search.effect is None:
            self.say(f"{plural(count, 'commit')}: about {plural(steps, 'step')}; first the bad revision itself")
            self._measure_both(search)
        bad, good = self.bad.commit, {self.good.commit}
        for step in search.steps:
            self.say(step_words(step))
        while True:
            good |= set(search.commits(Side.GOOD))
            bad = _earliest(self.repository, bad, search.commits(Side.BAD), good)
            candidates = self.repository.halfway(good, bad)
            open_ = [commit for commit in candidates if commit != bad and commit not in search.commits(Side.SKIP)]
            if not open_:
                break
            step = self._step(search, self.repository.revision(open_[0]), steps)
            search.steps.append(step)
            self._remember(search)
            self.say(step_words(step))
        return BisectionResult(search, [self.repository.revision(commit) for commit in candidates])

    def _measure_both(self, search: BisectionState) -> None:
        """The bad revision against the good one: how much worse it is, and under which load."""
        answer = self._compare(self.bad, self.question)
        if answer.run.interrupted:
            raise KeyboardInterrupt
        judged = answer.judged
        if judged.failed or not judged.changes:
            reason = "; ".join(_blame(failed) for failed in judged.failed) or "the figure was not measured of both"
            raise InvalidRunError(
                f"good and bad could not be compared: {reason}",
                where=str(answer.folder),
                fix="give two revisions that build and keep their contract",
            )
        worse = [change for change in judged.changes if change.worse]
        if not worse:
            undecided = any(not change.harmless for change in judged.changes)
            state = "nobody can say that the bad revision is worse" if undecided else "the bad revision is not worse"
            raise NotWorseError(
                f"{state} in {self.figure}, so there is no commit to search for",
                where=str(answer.folder),
                fix="give more time (`--minutes`), another figure or another load; for an improvement swap the two",
                undecided=undecided,
            )
        worst = max(worse, key=lambda change: abs(math.log(change.ratio or 1.0)))
        search.load, search.effect = worst.load, worst.ratio
        self._remember(search)
        place = f" under {worst.load}" if worst.load else ""
        figure = FIGURES[self.figure].in_sentence
        self.say(f"the bad revision's {figure}{place} is {ratio(worst.ratio)} that of the good one")

    def _step(self, search: BisectionState, revision: Revision, steps: int) -> BisectionStep:
        """One commit against the good one, until its interval keeps clear of the border."""
        terms = replace(self.question.terms, confidence=simultaneous(self.question.terms.confidence, steps))
        question = replace(
            self.question,
            terms=terms,
            loads=(search.load,) if search.load else (),
            still_open=lambda comparison: _side(comparison, search) is None,
        )
        step = BisectionStep(
            commit=revision.commit,
            subject=revision.subject,
            phase=FIGURES[self.figure].phase,
            contender=revision.commit,
            baseline=self.good.commit,
            load=search.load,
            figure=self.figure,
        )
        try:
            answer = self._compare(revision, question)
        except UsageError as error:  # This revision lacks the stack, or its manifest cannot be read.
            step.reason = error.what
            return step
        if answer.run.interrupted:
            raise KeyboardInterrupt
        step.run, step.rounds = answer.run.plan.run_id, answer.judged.rounds
        if answer.judgement.failed:
            step.reason = "; ".join(_blame(failed) for failed in answer.judgement.failed)
            return step
        found = next((c for c in answer.judgement.comparisons if _concerns(c, search)), None)
        if found is None or found.verdict is Verdict.INVALID:
            step.reason = (found and found.reason) or "the figure was not measured"
            return step
        side = _side(found, search)
        step.side, step.reason = side or Side.SKIP, None if side else "the time was not enough to tell"
        return step.model_copy(update={name: value for name, value in found if name not in _OWN})

    def _compare(self, revision: Revision, question: RevisionQuestion) -> MeasuredPair:
        notes = [f"base is {self.good.words}", f"head is {revision.words}"]
        return compare_revisions(
            self.repository,
            (self.good, revision),
            question,
            here=self.here,
            conditions=replace(self.conditions, display=self.display(), notes=notes),
            scenario_of=self.bad,
        )

    def _remembered(self) -> BisectionState:
        """Results of an earlier search of the same question, without undecided commits."""
        terms, asked = self.question.terms, self.question
        words = [str(terms.margin_of(self.figure)), asked.scenario or "", asked.stack or "", *asked.loads]
        fresh = BisectionState(good=self.good.commit, bad=self.bad.commit, figure=self.figure, asked=words)
        try:
            search = BisectionState.model_validate_json(self.memory.read_bytes())
        except (OSError, ValidationError):
            return fresh
        if search.asked != fresh.asked:
            return fresh
        search.steps = [step for step in search.steps if step.side is not Side.SKIP]
        return search

    def _remember(self, search: BisectionState) -> None:
        write_whole(self.memory, search.model_dump_json(indent=1))


def step_words(step: BisectionStep) -> str:
    """A step in a line."""
    bounds = ratio_interval(step.low, step.high)
    measured = f" {ratio(step.ratio)} ({bounds})" if bounds else ""
    because = f": {step.reason}" if step.reason else ""
    return f"{step.commit[:10]} {step.side}{measured} {step.subject}{because}"


def _concerns(comparison: Comparison, search: BisectionState) -> bool:
    return comparison.figure == search.figure and comparison.load == search.load


def _side(comparison: Comparison, search: BisectionState) -> Side | None:
    """The side of the border on which a commit's interval is. None if it contains the border."""
    if not _concerns(comparison, search):
        return Side.GOOD
    if comparison.low is None or comparison.high is None:
        return None
    beyond, before = comparison.low > search.border, comparison.high < search.border
    if FIGURES[search.figure].better is Better.HIGHER:
        beyond, before = before, beyond
    return Side.BAD if beyond else Side.GOOD if before else None


def _earliest(repository: Repository, bad: str, known: list[str], good: set[str]) -> str:
    """The bad commit with the fewest commits that may be the first bad one."""
    reached = set(repository.halfway(good, bad))
    within = [commit for commit in known if commit in reached]
    return min(within, key=lambda commit: len(repository.halfway(good, commit)), default=bad)


def _blame(failed: FailedContender) -> str:
    return f"{failed.contender} failed: {failed.reason}"
