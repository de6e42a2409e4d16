"""Whether what a bundle states follows from its records: judged again, and compared."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from pydantic import ValidationError

from touchstone.bundle.archive import JUDGEMENT
from touchstone.judge.comparison.across import ComparisonTerms
from touchstone.judge.comparison.pair import PairJudgement, judge_pair
from touchstone.judge.judge import judge
from touchstone.judge.judgement import Comparison, Estimate, Judgement
from touchstone.record.run import Run
from touchstone.record.store import REVISIONS

_Key = tuple[str | None, ...]
_EQUAL = 1e-9
"""Relative: another machine's arithmetic."""


def departures(run: Run, files: dict[str, bytes]) -> list[str]:
    """Every statement of a bundle that its records do not give. Empty if all follow."""
    again = judge(run)
    try:
        stated = Judgement.model_validate_json(files[JUDGEMENT])
        pair = PairJudgement.model_validate_json(files[REVISIONS]) if REVISIONS in files else None
    except (KeyError, ValidationError):
        return [f"there is no {JUDGEMENT} or {REVISIONS} that can be read"]
    # JSON has no infinity: a bound that nothing limits is read back as none.
    found = [*_judgement(stated, Judgement.model_validate_json(again.model_dump_json(by_alias=True)))]
    return [*found, *_pair(pair, run, again)] if pair is not None else found


def _judgement(stated: Judgement, again: Judgement) -> Iterator[str]:
    for name in ("verdict", "margin", "confidence"):
        if getattr(stated, name) != getattr(again, name):
            yield f"the {name} is stated as {getattr(stated, name)}, and the records give {getattr(again, name)}"
    if {f.contender for f in stated.failed} != {f.contender for f in again.failed}:
        yield "the contenders that failed are not those of the records"
    findings = [Counter((f.code, f.severity, f.sample, f.contender) for f in one.findings) for one in (stated, again)]
    for code, _, sample, contender in findings[1] - findings[0]:
        yield f"the finding {code} of {sample or contender or 'the run'} is left out"
    for code, _, sample, contender in findings[0] - findings[1]:
        yield f"the finding {code} of {sample or contender or 'the run'} is not in the records"
    ours, theirs = ({e.key: e for e in one.estimates} for one in (again, stated))
    for key in ours.keys() | theirs.keys():
        if not _alike(ours.get(key), theirs.get(key), ("median", "low", "high", "verdict")):
            yield f"{_place(key)}: its value is not the one that the records give"
    yield from _comparisons(*(_by_key(one.comparisons) for one in (again, stated)))


def _by_key(comparisons: Iterable[Comparison]) -> dict[_Key, Comparison]:
    return {(*c.key, c.baseline): c for c in comparisons}


def _comparisons(again: Mapping[_Key, Comparison], stated: Mapping[_Key, Comparison]) -> Iterator[str]:
    for key in again.keys() | stated.keys():
        ours, theirs = again.get(key), stated.get(key)
        if not _alike(ours, theirs, ("ratio", "low", "high", "outcome", "verdict", "margin")):
            outcomes = [one.outcome if one else "nothing" for one in (theirs, ours)]
            yield f"{_place(key)}: stated as {outcomes[0]}, and the records give {outcomes[1]}, or another interval"


def _pair(stated: PairJudgement, run: Run, judgement: Judgement) -> Iterator[str]:
    """The same of what is said of two revisions or services: judged at the margins that it names."""
    of_twin = stated.twin.changes if stated.twin else []
    figures: dict[str, float | None] = {c.figure: c.margin for c in (*of_twin, *stated.changes)}
    names = [c.name for c in run.plan.contenders if c.name != run.plan.twin]
    if len(names) != 2 or not figures:
        return
    terms = ComparisonTerms(margin=stated.margin, confidence=run.plan.confidence, figures=figures)
    sides = (names[0], stated.base), (names[1], stated.head)
    judged = judge_pair(run, judgement, sides, terms, stated.contender)
    again = PairJudgement.model_validate_json(judged.model_dump_json(by_alias=True))
    if again.standing is not stated.standing:
        yield f"the two are stated as {stated.standing}, and the records give {again.standing}"
    yield from _comparisons(*(_by_key(one.changes) for one in (again, stated)))


def _alike(one: Estimate | Comparison | None, other: Estimate | Comparison | None, names: tuple[str, ...]) -> bool:
    if one is None or other is None:
        return one is other
    return all(_same(getattr(one, name), getattr(other, name)) for name in names)


def _same(one: object, other: object) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=_EQUAL)
    return one == other


def _place(key: _Key) -> str:
    return ", ".join(str(part) for part in key if part is not None)
