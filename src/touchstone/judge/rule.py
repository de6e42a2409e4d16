"""What a validity rule is, and the one registry of them: every module of `judge/rules/` that holds one."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, ClassVar

from touchstone.judge.judgement import Doubt, Finding, Severity
from touchstone.judge.reading.case import Case, Group
from touchstone.record.sample import TARE, Sample
from touchstone.vocabulary.phase import UNDER_LOAD


class Rule(ABC):
    """A validity rule. Its class attributes are its entry in docs/findings.md; its docstring says why it exists."""

    code: ClassVar[str]
    """Lower case with hyphens; never reused for another meaning."""
    severity: ClassVar[Severity]
    """The severity where nothing else is said; a rule may fire milder or harder, and its `threshold` says when."""
    title: ClassVar[str]
    """What is wrong when it fires, in a few words."""
    threshold: ClassVar[str]
    """When it fires."""
    threshold_reason: ClassVar[str]
    """Why there and not elsewhere."""
    next_step: ClassVar[str]
    """What the reader should do."""
    explains_others: ClassVar[bool] = False
    """Whether what else is found on the sample comes of it: then it is told first, and is the reason that is given."""
    explained_by: ClassVar[frozenset[str]] = frozenset()
    """Codes of findings that account for this one: next to one of them on the same sample it is no graver than that."""
    own_failure: ClassVar[bool] = False
    """Whether an invalid finding of it says that the service itself failed: then a run that holds one is no success,
    though the round be left out and the others stand. What the machine or the lab did to a round is left out alone.
    """

    def finding(
        self,
        statement: str,
        *,
        severity: Severity | None = None,
        sample: Sample | None = None,
        group: Group | None = None,
        contender: str | None = None,
        load: str | None = None,
        figures: list[str] | None = None,
        doubt: Doubt | None = None,
        evidence: dict[str, Any] | None = None,
        next_step: str | None = None,
    ) -> Finding:
        """Make the finding; `sample` or `group` say whom it concerns, neither means the run or what is named.

        `next_step` is what to do in this case, if it is known better than for all cases.
        """
        where = sample or group
        return Finding(
            code=self.code,
            severity=severity or self.severity,
            statement=statement,
            next_step=next_step or self.next_step,
            contender=where.contender if where else contender,
            load=where.load if where else load,
            sample=sample.id if sample else None,
            figures=figures,
            doubt=doubt,
            evidence=evidence or {},
        )

    @abstractmethod
    def findings(self, case: Case) -> Iterator[Finding]:
        """All that the rule has to say of a run."""


class SampleRule(Rule):
    """A rule that looks at one sample at a time."""

    phases: ClassVar[tuple[str, ...] | None] = UNDER_LOAD
    """The phases whose samples it looks at; None means all."""
    looks_at_tares: ClassVar[bool] = False

    @abstractmethod
    def look(self, sample: Sample, case: Case) -> Iterator[Finding]:
        """What the rule has to say of a sample."""

    def findings(self, case: Case) -> Iterator[Finding]:
        """Look at each sample that it concerns."""
        for sample in case.run.samples:
            if self.phases is not None and sample.phase not in self.phases:
                continue
            if sample.contender == TARE and not self.looks_at_tares:
                continue
            yield from self.look(sample, case)


class GroupRule(Rule):
    """A rule that looks at a contender's samples of one phase and load together."""

    phases: ClassVar[tuple[str, ...] | None] = UNDER_LOAD

    @abstractmethod
    def look(self, group: Group, case: Case) -> Iterator[Finding]:
        """What the rule has to say of a group."""

    def findings(self, case: Case) -> Iterator[Finding]:
        """Look at each contender's group that it concerns."""
        for group in case.groups:
            if group.contender != TARE and (self.phases is None or group.phase in self.phases):
                yield from self.look(group, case)


class RunRule(Rule):
    """A rule that looks at the run as a whole."""

    @abstractmethod
    def look(self, case: Case) -> Iterator[Finding]:
        """What the rule has to say of the run."""

    def findings(self, case: Case) -> Iterator[Finding]:
        """Look once."""
        yield from self.look(case)


@cache
def rules() -> tuple[Rule, ...]:
    """Every rule, by code. Raises ValueError if two modules give the same code."""
    # Only here, since the rules import this module.
    folder = importlib.import_module("touchstone.judge.rules")
    found: dict[str, Rule] = {}
    for module_info in pkgutil.walk_packages(folder.__path__, f"{folder.__name__}."):
        module = importlib.import_module(module_info.name)
        for _, kind in inspect.getmembers(module, inspect.isclass):
            if not issubclass(kind, Rule) or inspect.isabstract(kind) or kind.__module__ != module.__name__:
                continue
            if kind.code in found:
                raise ValueError(f"two rules have the code {kind.code!r}: give {kind.__qualname__} its own")
            found[kind.code] = kind()
    return tuple(found[code] for code in sorted(found))


def settle(findings: Sequence[Finding]) -> list[Finding]:
    """The findings; each that another one on its sample explains is no graver than that one, and names it."""
    at: dict[str, list[Finding]] = {}
    for finding in findings:
        if finding.sample is not None:
            at.setdefault(finding.sample, []).append(finding)
    explained_by = {rule.code: rule.explained_by for rule in rules() if rule.explained_by}
    return [
        _settled(one, [f for f in at.get(one.sample or "", ()) if f.code in explained_by.get(one.code, ())])
        for one in findings
    ]


def _settled(finding: Finding, causes: Sequence[Finding]) -> Finding:
    if not causes:
        return finding
    cause = min(causes, key=lambda f: f.severity.place)
    update = {"statement": f"{finding.statement}; `{cause.code}` explains it"}
    if cause.severity.place > finding.severity.place:
        return finding.model_copy(update=update | {"severity": cause.severity, "next_step": cause.next_step})
    return finding.model_copy(update=update)


@cache
def explaining() -> frozenset[str]:
    """The codes of the rules that explain what else is found."""
    return frozenset(rule.code for rule in rules() if rule.explains_others)
