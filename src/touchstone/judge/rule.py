"""A validity rule is a function on a run, decorated with code, severity and documentation.

`judge/rules/` holds them, one file for each family; `judge/rules/table.py` is the only list of them.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Required, TypedDict, Unpack

from touchstone.judge.judgement import Finding, PossibleBias, Severity
from touchstone.judge.reading.case import Case, SampleGroup
from touchstone.record.sample import TARE, Sample
from touchstone.vocabulary.phase import UNDER_LOAD

_Phases = tuple[str, ...] | None
"""Phases that a rule looks at; None means all."""
NOTHING: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Fired:
    """A case in which a rule fires. Missing fields are taken from the rule or from its sample."""

    statement: str
    """What is wrong, in a sentence with the numbers in it."""
    severity: Severity | None = None
    sample: Sample | None = None
    contender: str | None = None
    load: str | None = None
    figures: list[str] | None = None
    """The figures that it makes untrustworthy; None means all of the sample."""
    doubt: PossibleBias | None = None
    evidence: dict[str, Any] = field(default_factory=dict)
    next_step: str | None = None
    """What to do in this case, if that is known better than for all cases."""


@dataclass(frozen=True)
class Rule:
    """A validity rule, with its entry in docs/findings.md."""

    code: str
    """Lower case with hyphens; never reused for another meaning."""
    severity: Severity
    """The usual severity; a rule may fire milder or harder, and its `threshold` says when."""
    title: str
    """What is wrong when it fires, in a few words."""
    why: str
    """Why the rule exists."""
    threshold: str
    """When it fires."""
    threshold_reason: str
    """Why the threshold has this value."""
    next_step: str
    """What the reader should do."""
    look: Callable[[Case], Iterator[tuple[Fired, Sample | SampleGroup | None]]]
    """Yields each case, and the sample or group that the rule looked at."""
    own_failure: bool = False
    """True if an invalid finding says that the service itself failed. A run that holds one is not a success, even if
    other rounds are sound. A round that the machine or touchstone spoiled is left out, and nothing else follows."""
    explains: frozenset[str] = NOTHING
    """Codes of findings that follow from this one when both are about the same sample."""

    def findings(self, case: Case) -> Iterator[Finding]:
        """All findings of the rule in a run."""
        for fired, at in self.look(case):
            where = fired.sample or at
            yield Finding(
                code=self.code,
                severity=fired.severity or self.severity,
                statement=fired.statement,
                next_step=fired.next_step or self.next_step,
                contender=where.contender if where else fired.contender,
                load=where.load if where else fired.load,
                sample=where.id if isinstance(where, Sample) else None,
                figures=fired.figures,
                doubt=fired.doubt,
                evidence=fired.evidence,
            )


class RuleTexts(TypedDict, total=False):
    """The texts of a rule, as the fields of `Rule` explain them. The function's docstring becomes `why`."""

    title: Required[str]
    threshold: Required[str]
    threshold_reason: Required[str]
    next_step: Required[str]
    own_failure: bool
    explains: frozenset[str]


def on_sample(
    code: str,
    severity: Severity,
    *,
    phases: _Phases = UNDER_LOAD,
    tares_too: bool = False,
    **words: Unpack[RuleTexts],
) -> Callable[[Callable[[Sample, Case], Iterator[Fired]]], Rule]:
    """Make a rule of a function that looks at one sample at a time."""

    def declare(look: Callable[[Sample, Case], Iterator[Fired]]) -> Rule:
        def over(case: Case) -> Iterator[tuple[Fired, Sample]]:
            for sample in case.run.samples:
                if (phases is None or sample.phase in phases) and (tares_too or sample.contender != TARE):
                    yield from ((fired, sample) for fired in look(sample, case))

        return Rule(code, severity, why=_why(look), look=over, **words)

    return declare


def on_group(
    code: str,
    severity: Severity,
    *,
    phases: _Phases = UNDER_LOAD,
    twin_too: bool = True,
    **words: Unpack[RuleTexts],
) -> Callable[[Callable[[SampleGroup, Case], Iterator[Fired]]], Rule]:
    """Make a rule from a function of a contender's samples of one phase and load.

    Without `twin_too` it is about what the plan asks of a contender, of which the twin of a gate has a part.
    """

    def declare(look: Callable[[SampleGroup, Case], Iterator[Fired]]) -> Rule:
        def over(case: Case) -> Iterator[tuple[Fired, SampleGroup]]:
            left_out = {TARE} if twin_too else {TARE, case.run.plan.twin}
            for group in case.groups:
                if group.contender not in left_out and (phases is None or group.phase in phases):
                    yield from ((fired, group) for fired in look(group, case))

        return Rule(code, severity, why=_why(look), look=over, **words)

    return declare


def on_run(
    code: str, severity: Severity, **words: Unpack[RuleTexts]
) -> Callable[[Callable[[Case], Iterator[Fired]]], Rule]:
    """Make a rule of a function that looks at the run as a whole."""

    def declare(look: Callable[[Case], Iterator[Fired]]) -> Rule:
        def over(case: Case) -> Iterator[tuple[Fired, None]]:
            yield from ((fired, None) for fired in look(case))

        return Rule(code, severity, why=_why(look), look=over, **words)

    return declare


def _why(look: Callable[..., object]) -> str:
    return " ".join((inspect.getdoc(look) or "").split())
