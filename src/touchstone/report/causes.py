"""Findings by their cause: one line for each, with who, how often and what to do, ordered by what they cost."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from touchstone.judge.judgement import Finding, PossibleBias, Severity, Verdict
from touchstone.judge.rules.table import is_cause
from touchstone.report.format import plural
from touchstone.vocabulary.figure import FIGURES

if TYPE_CHECKING:
    from touchstone.report.view import View

_NAMED = 4
"""Contenders that a line names; of more it gives the number."""
_EACH_ITS_OWN = "phase-failed"
"""The rule whose cases have nothing in common but that something failed: each reason is a cause."""


@dataclass(frozen=True)
class FindingGroup:
    """The same finding on several samples of one contender: shown once, with all its samples."""

    number: int
    first: Finding
    findings: tuple[Finding, ...]

    @property
    def samples(self) -> list[str]:
        """Ids of the samples that it fired on."""
        return [f.sample for f in self.findings if f.sample]


@dataclass(frozen=True)
class FindingCause:
    """All findings of one code and severity: those of contenders, or of the whole run; of what failed, those with one
    reason.
    """

    groups: tuple[FindingGroup, ...]
    touched: int
    """Leading comparisons that it makes invalid or doubtful, or that it widens."""
    exhibits: bool
    """True if it concerns exhibits alone, which are there to be wrong."""

    @property
    def code(self) -> str:
        """The rule's code."""
        return self.groups[0].first.code

    @property
    def severity(self) -> Severity:
        """How much it weighs."""
        return self.groups[0].first.severity

    @property
    def statement(self) -> str:
        """What was found, in the words of the case that moved the figures most."""
        return max(self.groups, key=lambda group: (_reach(group.first.doubt), -group.number)).first.statement

    @property
    def scored(self) -> bool:
        """Whether it bears on a figure of the summary."""
        named = [group.first.figures for group in self.groups]
        return any(figures is None or any(FIGURES[f].scored for f in figures if f in FIGURES) for figures in named)

    @property
    def next_steps(self) -> list[str]:
        """What to do: one step nearly always."""
        return list(dict.fromkeys(group.first.next_step for group in self.groups))

    @property
    def who(self) -> str:
        """The contenders that it concerns."""
        names = list(dict.fromkeys(group.first.contender for group in self.groups if group.first.contender))
        if not names:
            return "the run"
        return ", ".join(names) if len(names) <= _NAMED else f"{', '.join(names[:3])} and {len(names) - 3} more"

    @property
    def loads(self) -> str:
        """The loads that it concerns; empty if it belongs to none."""
        names = list(dict.fromkeys(group.first.load for group in self.groups if group.first.load))
        return ", ".join(names) if len(names) <= 2 else plural(len(names), "load")

    @property
    def often(self) -> str:
        """On how many samples it was found; empty if it is about all of them together."""
        samples = {sample for group in self.groups for sample in group.samples}
        return plural(len(samples), "sample") if samples else ""

    @property
    def place(self) -> str:
        """The contenders, loads and counts of a cause, in a line."""
        return " · ".join(part for part in (self.who, self.loads, self.often) if part)


def grouped(findings: Iterable[Finding]) -> list[FindingGroup]:
    """Findings, the most severe first. Equal findings on one contender and load are grouped."""
    groups: dict[tuple[str, str, str | None, str | None], list[Finding]] = {}
    for finding in sorted(findings, key=lambda f: (f.severity.place, not is_cause(f.code), f.code)):
        key = (finding.severity, finding.code, finding.contender, finding.load)
        groups.setdefault(key, []).append(finding)
    return [FindingGroup(i, group[0], tuple(group)) for i, group in enumerate(groups.values(), start=1)]


def causes_of(view: View) -> list[FindingCause]:
    """The causes of a run, the one that costs its reader most first."""
    found: dict[tuple[str, str, str, bool], list[FindingGroup]] = {}
    for group in view.finding_groups:
        first = group.first
        reason = first.statement if first.code == _EACH_ITS_OWN else ""
        found.setdefault((first.severity, first.code, reason, first.contender is None), []).append(group)
    wrong_on_purpose = {c.name for c in view.plan.contenders if c.exhibit}
    made = [
        FindingCause(tuple(groups), _touched(view, groups), all(g.first.contender in wrong_on_purpose for g in groups))
        for groups in found.values()
    ]
    return sorted(made, key=_cost)


def _cost(cause: FindingCause) -> tuple[int, bool, bool, int, float, str]:
    """A sort key: sound before exhibit, then severity, causes first, spoiled comparisons, size."""
    severity = Severity.SUSPECT if cause.exhibits and cause.severity is Severity.INVALID else cause.severity
    worst = max(_reach(group.first.doubt) for group in cause.groups)
    return severity.place, cause.exhibits, not is_cause(cause.code), -cause.touched, -worst, cause.code


def _reach(doubt: PossibleBias | None) -> float:
    """By how much it can have moved a figure, as a factor; infinite where nobody knows."""
    if doubt is None or doubt.faster is None or doubt.slower is None:
        return math.inf
    return max(doubt.faster, doubt.slower)


def _touched(view: View, groups: list[FindingGroup]) -> int:
    """Leading comparisons that these findings affect, at their place and with their contender."""
    keys = set()
    for group in groups:
        first = group.first
        sample = view.sample(first.sample) if first.sample else None
        for c in view.judgement.comparisons:
            if not FIGURES[c.figure].leads or (first.figures is not None and c.figure not in first.figures):
                continue
            if sample is not None and (c.phase, c.load) != (sample.phase, sample.load):
                continue
            if sample is None and first.load is not None and c.load != first.load:
                continue
            concerned = first.contender in (None, c.contender, c.baseline)
            if concerned and (c.verdict is not Verdict.VALID or c.sampled_low is not None):
                keys.add(c.key)
    return len(keys)
