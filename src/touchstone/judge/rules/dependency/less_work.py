"""Rule: a contender has its dependencies do less than another."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from touchstone.judge.figures import CPU, SPEED
from touchstone.judge.judgement import Doubt, Finding, Severity
from touchstone.judge.language.quantity import number, share
from touchstone.judge.reading.case import Case
from touchstone.judge.reading.work import Work, work_of
from touchstone.judge.rule import RunRule

EXACT = 0.005
LATE = 0.05
LATE_S = 1.0
TOUCHED = 0.05
LEAST = 20


class LessWork(RunRule):
    """Who asks the downstream for four responses in five, or keeps what it looked up, is faster at another task.

    Where no proof of the scenario counts the work, the dependencies still do, and contenders can be compared.
    """

    code = "less-work"
    severity = Severity.SUSPECT
    title = "A contender has its dependencies do less than another"
    threshold = (
        "calls, rows or transactions per correct response, over all rounds of a load: at least 20 fewer than by "
        "another contender's count, and fewer by more than 0.5 %; in PostgreSQL by more than 5 %, and by more than one "
        "second's part of the load; rows that are read count up to one for each response; transactions are compared "
        "where rows are touched alike, for a note"
    )
    threshold_reason = (
        "calls and rows are counted exactly, and what was sent and not answered is allowed for; PostgreSQL's sessions "
        "hand in their counts up to a second late, and those of statements that touch no table at their end; one plan "
        "reads many rows where another reads one; work that not even one request in twenty brings about is the "
        "service's own"
    )
    next_step = (
        "Give the load a proof that counts the work, and look in the contender named for caches and skipped calls; "
        "whether it keeps answers, an act `execute` in the contract shows."
    )

    def look(self, case: Case) -> Iterator[Finding]:
        """Look at the run."""
        # A defect that is shown on purpose may call twice; nobody does less for that.
        exhibits = {contender.name for contender in case.run.plan.contenders if contender.exhibit}
        for load in case.loads:
            by_kind: dict[tuple[str, str], list[Work]] = defaultdict(list)
            for group in case.groups_of("load"):
                if group.load == load and group.contender not in exhibits:
                    for work in work_of(group.contender, group.samples):
                        by_kind[work.dependency, work.counter.what].append(work)
            for (dependency, _), works in list(by_kind.items()):
                most = _most(works)
                for work in works:
                    if (fewer := _fewer(work, most)) is None:
                        continue
                    others = [by_kind[dependency, what] for what in work.counter.same_with]
                    if not work.counter.same_with or _alike(others, work.contender):
                        yield self._finding(work, most, fewer, load)

    def _finding(self, work: Work, most: Work, fewer: float, load: str) -> Finding:
        batched = bool(work.counter.same_with)
        doubt = Doubt(
            slower=1 / (1 - fewer) if fewer < 1 else None,
            reason="a response without its work takes no less than no time",
        )
        return self.finding(
            f"{work.contender} has {work.dependency} do {share(fewer)} less than {most.contender}: "
            f"{number(work.most)} {work.counter.what} per correct response, and {number(most.most)}"
            f"{'; the rows are alike, so that it may only put more into a transaction' if batched else ''}",
            severity=Severity.NOTE if batched else None,
            contender=work.contender,
            load=load,
            figures=[*SPEED, *CPU],
            doubt=None if batched else doubt,
            evidence=_evidence([work, most]),
        )


def _fewer(work: Work, most: Work) -> float | None:
    """The share of the other's work that this contender leaves out; None if it leaves out none to speak of."""
    if most.least < TOUCHED:
        return None
    due = min(1.0, most.least) if work.counter.one_is_enough else most.least
    left_out = 1 - work.most / due
    allowed = EXACT
    if work.counter.late:
        allowed = max(LATE, LATE_S / max(LATE_S, min(work.seconds, most.seconds)))
    return left_out if left_out > allowed and left_out * due * work.ok >= LEAST else None


def _alike(kinds: Sequence[Sequence[Work]], contender: str) -> bool:
    """Whether a contender does none of these kinds of work less than another, and some of them at all."""
    own = [work for works in kinds for work in works if work.contender == contender]
    less = [w for works in kinds for w in works if w.contender == contender and _fewer(w, _most(works)) is not None]
    return not less and any(work.most >= TOUCHED for work in own)


def _most(works: Sequence[Work]) -> Work:
    return max(works, key=lambda work: work.least)


def _evidence(works: Sequence[Work]) -> dict[str, object]:
    return {
        w.contender: {"done": w.done, "correct_responses": w.ok, "sent": w.sent, "seconds": w.seconds} for w in works
    }
