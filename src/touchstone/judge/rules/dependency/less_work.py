"""Rule: contenders have their dependencies do unequal work."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from touchstone.judge.figures import CPU, SPEED
from touchstone.judge.judgement import Doubt, Finding, Severity
from touchstone.judge.language.quantity import number, share
from touchstone.judge.reading.apart import Apart, apart
from touchstone.judge.reading.case import Case
from touchstone.judge.reading.work import Work, work_of
from touchstone.judge.rule import RunRule

EXACT = 0.005
LATE = 0.05
TOUCHED = 0.05
LEAST = 20

_Works = Mapping[str, Work]
"""One kind of work, by contender."""


class LessWork(RunRule):
    """Who asks the downstream for four responses in five, or keeps what it looked up, is faster at another task.

    Where no proof of the scenario counts the work, the dependencies still do, and contenders can be compared.
    """

    code = "less-work"
    severity = Severity.SUSPECT
    title = "Contenders have their dependencies do unequal work"
    threshold = (
        "calls, rows or transactions per correct response, over all rounds of a load whose proofs hold, by two "
        "contenders' counts: at least 20 fewer than by the other, and fewer by more than 0.5 %; in PostgreSQL by more "
        "than 5 %, and by more than what came in the load's last second; rows that are read count up to one for each "
        "response; scans of tables are compared where fewer rows are read as well, and transactions where rows are "
        "touched alike, for a note; where most contenders agree, only those who do less or more are suspect, and of "
        "two neither is named"
    )
    threshold_reason = (
        "calls and rows are counted exactly, and what was sent and not answered is allowed for; PostgreSQL's sessions "
        "hand in their counts up to a second late, and those of statements that touch no table at their end; one plan "
        "reads many rows where another reads one; work that not even one request in twenty brings about is the "
        "service's own; who breaks its own proof is judged by that, and is no measure for others"
    )
    next_step = (
        "Give the load a proof that counts the work, and look in the contender that does less for caches and skipped "
        "calls, in the one that does more for calls made twice; whether it keeps answers, an act `execute` in the "
        "contract shows."
    )

    def look(self, case: Case) -> Iterator[Finding]:
        """Look at the run."""
        for load in case.loads:
            by_kind = _work_by_kind(case, load)
            for (dependency, _), works in by_kind.items():
                for pair in apart(works, lambda low, high: _left_out(low, high) is not None):
                    counter = works[pair.low].counter
                    same = [by_kind.get((dependency, what), {}) for what in counter.same_with]
                    less = [by_kind.get((dependency, what), {}) for what in counter.with_less]
                    if (not same or _alike(same, pair)) and all(_less_only_in_full(one, pair) for one in less):
                        yield self._finding(pair, works, load)

    def _finding(self, pair: Apart, works: _Works, load: str) -> Finding:
        low, high = works[pair.low], works[pair.high]
        left_out = _left_out(low, high) or 0.0
        batched = bool(low.counter.same_with)
        remark = "; the rows are alike, so that one may only put more into a transaction" if batched else ""
        return self.finding(
            _statement(pair, low, high, left_out) + remark,
            severity=Severity.NOTE if batched else None,
            contender=pair.odd,
            load=load,
            figures=[*SPEED, *CPU],
            doubt=None if batched else _doubt(pair, left_out),
            evidence=_evidence([low, high]),
        )


def _work_by_kind(case: Case, load: str) -> dict[tuple[str, str], dict[str, Work]]:
    """The work of each contender under a load, by dependency and what is counted.

    A defect that is shown on purpose may call twice, and so may a round whose own proof says so: nobody does less for
    that.
    """
    exhibits = {contender.name for contender in case.run.plan.contenders if contender.exhibit}
    found: dict[tuple[str, str], dict[str, Work]] = defaultdict(dict)
    for group in case.groups_of("load"):
        if group.load == load and group.contender not in exhibits:
            proven = [sample for sample in group.samples if all(proof.passed for proof in sample.proofs)]
            for work in work_of(group.contender, proven):
                found[work.dependency, work.counter.what][group.contender] = work
    return found


def _left_out(low: Work, high: Work) -> float | None:
    """The share of the other's work that the first leaves out; None if it leaves out none to speak of."""
    if high.least < TOUCHED:
        return None
    due = min(1.0, high.least) if low.counter.one_is_enough else high.least
    left_out = 1 - low.most / due
    allowed = EXACT
    if low.counter.late:
        late_s = max(low.late_s, high.late_s)
        allowed = max(LATE, late_s / max(late_s, min(low.seconds, high.seconds)))
    return left_out if left_out > allowed and left_out * due * low.ok >= LEAST else None


def _alike(others: Sequence[_Works], pair: Apart) -> bool:
    """Whether the first of two does none of these kinds of work less than the other, and some of them at all."""
    both = [(works[pair.low], works[pair.high]) for works in others if pair.low in works and pair.high in works]
    return any(low.most >= TOUCHED for low, _ in both) and all(_left_out(low, high) is None for low, high in both)


def _less_only_in_full(works: _Works, pair: Apart) -> bool:
    """Whether there is less of this work, too, but not so little that it is told by itself."""
    if pair.low not in works or pair.high not in works:
        return False
    low, high = works[pair.low], works[pair.high]
    return low.most < (1 - LATE) * high.least and _left_out(low, high) is None


def _statement(pair: Apart, low: Work, high: Work, left_out: float) -> str:
    what, dependency = low.counter.what, low.dependency
    counted = f"{number(low.most)} {what} per correct response against {number(high.most)}"
    if pair.odd == pair.low:
        return f"{pair.low} has {dependency} do {share(left_out)} less than {pair.high}: {counted}"
    if pair.odd == pair.high:
        return (
            f"{pair.high} has {dependency} do more work per response than the others: {number(high.most)} {what} per "
            f"correct response against {number(low.most)} from {pair.low}"
        )
    return (
        f"{pair.low} has {dependency} do {share(left_out)} less than {pair.high}, and which of them does what is asked "
        f"the counts do not say: {counted}"
    )


def _doubt(pair: Apart, left_out: float) -> Doubt:
    times = 1 / (1 - left_out) if left_out < 1 else None
    if pair.odd == pair.high:
        return Doubt(faster=times, reason="the work that others leave out took no more than all of its time")
    return Doubt(slower=times, reason="a response without its work takes no less than no time")


def _evidence(works: Sequence[Work]) -> dict[str, object]:
    return {
        w.contender: {"done": w.done, "correct_responses": w.ok, "sent": w.sent, "seconds": w.seconds} for w in works
    }
