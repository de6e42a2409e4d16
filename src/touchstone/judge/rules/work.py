"""Rules on work: whether the work behind the answers was done."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from touchstone.judge.figures import CPU, SPEED
from touchstone.judge.judgement import PossibleBias, Severity
from touchstone.judge.language.quantity import number, seconds, share
from touchstone.judge.reading.case import Case
from touchstone.judge.reading.dependencies import LEAST_ASKED, as_a_rule, stated_delay_s
from touchstone.judge.reading.unequal_pair import UnequalPair, unequal_pairs
from touchstone.judge.reading.work import WorkCount, work_of
from touchstone.judge.rule import Fired, on_run, on_sample
from touchstone.record.sample import Sample


@on_sample(
    "answered-before-work",
    Severity.SUSPECT,
    title="Responses came before the work was done",
    threshold=(
        f"after the load, touchstone sends requests one at a time. At least {LEAST_ASKED} of them used a dependency, "
        "and at least half of these used the dependency after the response"
    ),
    threshold_reason=(
        "nothing else runs then, so work after a response belongs to that request. A dependency's own background work, "
        "such as a checkpoint, does not follow every second request"
    ),
    next_step=(
        "Look for work in threads, queues or hooks that run after the response. If the contract allows it, make all "
        "contenders do it."
    ),
)
def answered_before_work(sample: Sample, case: Case) -> Iterator[Fired]:
    """A service that responds before it has done the work looks fast.

    If it crashes, it loses work that it has confirmed. In the end all work is done, so other checks do not notice.
    """
    for dependency in sample.dependencies:
        if seen := as_a_rule(dependency, "late"):
            yield Fired(
                f"{dependency.name} started work only after the response, for {seen.late} of {seen.asked} responses",
                figures=SPEED,
                evidence=seen.model_dump(),
            )


_BELOW_DOWNSTREAM_DELAY_EARLY = 0.95
_BELOW_DOWNSTREAM_DELAY_HITS = ("hits", "requests", "answered", "served")


@on_sample(
    "below-downstream-delay",
    Severity.INVALID,
    title="The service responds faster than its downstream",
    threshold=(
        "the scenario states the downstream's delay, and the downstream counted at least one request for every two "
        "responses. But the service's median latency is below 95 % of the delay"
    ),
    threshold_reason=(
        "a timer may fire a few percent early, because its resolution is limited. The median over many requests is "
        "not 5 % early"
    ),
    next_step="Look for a cache, for calls made ahead of time, or for a wrong unit in the stated delay.",
)
def below_downstream_delay(sample: Sample, case: Case) -> Iterator[Fired]:
    """A service that waits for its downstream cannot respond before the downstream does.

    An earlier response was made without the downstream.
    """
    result = sample.result
    if result is None or not result.counts.ok or result.latency.p50 is None:
        return
    for dependency in sample.dependencies:
        delay = stated_delay_s(dependency)
        hits = max(
            (
                dependency.after[k] - dependency.before.get(k, 0.0)
                for k in _BELOW_DOWNSTREAM_DELAY_HITS
                if k in dependency.after
            ),
            default=0.0,
        )
        if delay and hits >= 0.5 * result.counts.ok and result.latency.p50 < _BELOW_DOWNSTREAM_DELAY_EARLY * delay:
            yield Fired(
                f"the median latency is {seconds(result.latency.p50)}, but {dependency.name} answers only after "
                f"{seconds(delay)}",
                figures=SPEED,
                evidence={"p50_s": result.latency.p50, "delay_s": delay, "hits": hits},
            )


_WRITE_ELSEWHERE = (
    "Let the service write elsewhere: below /tmp, which is private to each start if mount namespaces are permitted, or "
    "to a dependency of the scenario. `--fresh-builds` creates a new work folder."
)


@on_sample(
    "leftovers",
    Severity.SUSPECT,
    title="State of an earlier run was present",
    threshold=(
        "before the contender started, its dependency contained data that should not have been there, or an earlier "
        "start had changed a file in the work folder. It is a note if an earlier start left a new file in the work "
        "folder. touchstone removes such files"
    ),
    threshold_reason=(
        "each contender should start without data of earlier runs. touchstone removes the data that it finds, and "
        "other data may remain. It cannot restore a changed file"
    ),
    next_step="Find the process that left the state: a server that was not stopped, or another run at the same time.",
    phases=None,
)
def leftovers(sample: Sample, case: Case) -> Iterator[Fired]:
    """Rows, sessions or offsets from an earlier run can make inserts fail and lookups faster."""
    for dependency in sample.dependencies:
        if dependency.leftovers:
            yield Fired(
                f"{dependency.name} was not empty: {'; '.join(dependency.leftovers[:3])}",
                evidence={"leftovers": dependency.leftovers},
            )
    for what, files in (
        ("removed", sample.process.left_in_work.removed),
        ("changed", sample.process.left_in_work.changed),
    ):
        if not files:
            continue
        changed = what == "changed"
        yield Fired(
            f"an earlier start {what if changed else 'left'} {', '.join(files[:3])} in the work folder"
            + ("" if changed else ", and touchstone removed it"),
            severity=Severity.SUSPECT if changed else Severity.NOTE,
            evidence={what: files},
            next_step=_WRITE_ELSEWHERE if changed else None,
        )


_LESS_WORK_EXACT = 0.005
_LESS_WORK_LATE = 0.05
_LESS_WORK_TOUCHED = 0.05
_LESS_WORK_LEAST = 20
_Works = Mapping[str, WorkCount]
"""One kind of work, by contender."""


@on_run(
    "less-work",
    Severity.SUSPECT,
    title="Contenders cause different amounts of work in their dependencies",
    threshold=(
        "over all rounds of a load whose proofs hold, two contenders cause different amounts of work (calls, rows or "
        "transactions) per right response. One causes less by at least 20 units and by more than 0.5 %. In "
        "PostgreSQL the difference must be more than 5 %, and more than the work of the load's last second. At most "
        "one row read counts per response. Table scans are compared only if that contender also reads fewer rows. "
        "Transactions are compared only if both touch equal numbers of rows, and such a difference is a note. If "
        "most contenders agree, only those that differ are suspect. With two contenders the finding names neither"
    ),
    threshold_reason=(
        "calls and rows are counted exactly, except for requests that were sent but not answered. PostgreSQL's "
        "sessions report their counts up to a second late, and statements that touch no table only when the session "
        "ends. At most one row per response counts, because query plans read different numbers of rows for the same "
        "result. Work of less than one unit for twenty responses may be work that the service does by itself, so it "
        "is not compared. A contender whose proof does not hold has another finding and is not compared here"
    ),
    next_step=(
        "Add a proof to the load that counts the work. In the contender that does less, look for caches and skipped "
        "calls. In the contender that does more, look for duplicate calls. An act `execute` in the contract shows "
        "whether a contender caches responses."
    ),
)
def less_work(case: Case) -> Iterator[Fired]:
    """A contender that calls the downstream less often, or caches lookups, does an easier task.

    This rule compares the dependencies' counters between contenders.
    """
    for load in case.loads:
        by_kind = _work_by_kind(case, load)
        for (dependency, _), works in by_kind.items():
            for pair in unequal_pairs(works, lambda low, high: _left_out(low, high) is not None):
                counter = works[pair.low].counter
                same = [by_kind.get((dependency, what), {}) for what in counter.same_with]
                less = [by_kind.get((dependency, what), {}) for what in counter.with_less]
                if (not same or _alike(same, pair)) and all(_less_only_in_full(one, pair) for one in less):
                    yield _finding(pair, works, load)


def _finding(pair: UnequalPair, works: _Works, load: str) -> Fired:
    low, high = works[pair.low], works[pair.high]
    left_out = _left_out(low, high) or 0.0
    batched = bool(low.counter.same_with)
    remark = ". The rows are equal, so one of them may only put more into each transaction" if batched else ""
    return Fired(
        _statement(pair, low, high, left_out) + remark,
        severity=Severity.NOTE if batched else None,
        contender=pair.odd,
        load=load,
        figures=[*SPEED, *CPU],
        doubt=None if batched else _doubt(pair, left_out),
        evidence=_evidence([low, high]),
    )


def _work_by_kind(case: Case, load: str) -> dict[tuple[str, str], dict[str, WorkCount]]:
    """The work of each contender under a load, by dependency and what is counted.

    A defect that is shown on purpose may call twice, and so may a round whose own proof says so: nobody does less for
    that.
    """
    exhibits = {contender.name for contender in case.run.plan.contenders if contender.exhibit}
    found: dict[tuple[str, str], dict[str, WorkCount]] = defaultdict(dict)
    for group in case.groups_of("load", load):
        if group.contender not in exhibits:
            proven = [sample for sample in group.samples if all(proof.passed for proof in sample.proofs)]
            for work in work_of(group.contender, proven):
                found[work.dependency, work.counter.what][group.contender] = work
    return found


def _left_out(low: WorkCount, high: WorkCount) -> float | None:
    """The share of the other's work that the first leaves out. None if it leaves out none to speak of."""
    if high.least < _LESS_WORK_TOUCHED:
        return None
    due = min(1.0, high.least) if low.counter.one_is_enough else high.least
    left_out = 1 - low.most / due
    allowed = _LESS_WORK_EXACT
    if low.counter.late:
        late_s = max(low.late_s, high.late_s)
        allowed = max(_LESS_WORK_LATE, late_s / max(late_s, min(low.seconds, high.seconds)))
    return left_out if left_out > allowed and left_out * due * low.ok >= _LESS_WORK_LEAST else None


def _alike(others: Sequence[_Works], pair: UnequalPair) -> bool:
    """Whether the first does some of these kinds of work, and none less."""
    both = [(works[pair.low], works[pair.high]) for works in others if pair.low in works and pair.high in works]
    return any(low.most >= _LESS_WORK_TOUCHED for low, _ in both) and all(
        _left_out(low, high) is None for low, high in both
    )


def _less_only_in_full(works: _Works, pair: UnequalPair) -> bool:
    """Whether there is less of this work, but too little less for its own finding."""
    if pair.low not in works or pair.high not in works:
        return False
    low, high = works[pair.low], works[pair.high]
    return low.most < (1 - _LESS_WORK_LATE) * high.least and _left_out(low, high) is None


def _statement(pair: UnequalPair, low: WorkCount, high: WorkCount, left_out: float) -> str:
    what, dependency = low.counter.what, low.dependency
    counted = f"{number(low.most)} {what} per correct response against {number(high.most)}"
    if pair.odd == pair.low:
        return f"{pair.low} has {dependency} do {share(left_out)} less work than {pair.high}: {counted}"
    if pair.odd == pair.high:
        return (
            f"{pair.high} has {dependency} do more work per response than the others: {number(high.most)} {what} per "
            f"correct response against {number(low.most)} from {pair.low}"
        )
    return (
        f"{pair.low} has {dependency} do {share(left_out)} less work than {pair.high}: {counted}. The counts do not "
        f"show which of the two does the expected work"
    )


def _doubt(pair: UnequalPair, left_out: float) -> PossibleBias:
    times = 1 / (1 - left_out) if left_out < 1 else None
    if pair.odd == pair.high:
        return PossibleBias(faster=times, reason="the work that others leave out took at most all of its time")
    return PossibleBias(slower=times, reason="a response without its work cannot take less than no time")


def _evidence(works: Sequence[WorkCount]) -> dict[str, object]:
    return {
        w.contender: {"done": w.done, "correct_responses": w.ok, "sent": w.sent, "seconds": w.seconds} for w in works
    }


@on_sample(
    "work-not-done",
    Severity.INVALID,
    title="The work behind the answers was not done",
    threshold="a proof of the load does not hold",
    threshold_reason=(
        "a proof compares the number of rows, hits or offsets with that of right responses. It allows for requests "
        "whose outcome is unknown"
    ),
    next_step=(
        "Compare the dependency's counts with the right responses. Look for writes that fail silently, caches, and "
        "batches that are never flushed."
    ),
    own_failure=True,
    phases=None,
)
def work_not_done(sample: Sample, case: Case) -> Iterator[Fired]:
    """A service that responds without doing the work is the fastest.

    So touchstone reads the dependency's counters.
    """
    # Work that a fault of the dependency loses or doubles is what the phase `disturb` measures.
    if sample.disturb is None:
        yield from broken_proofs(sample)


def broken_proofs(sample: Sample) -> Iterator[Fired]:
    """A case for each proof of the sample that does not hold."""
    for proof in sample.proofs:
        if not proof.passed:
            yield Fired(
                f"{proof.says}: expected {proof.expected}, the dependency says {proof.found}",
                evidence=proof.model_dump(),
            )
