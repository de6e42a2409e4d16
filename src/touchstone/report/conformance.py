"""Conformance for every exporter: what each contender keeps, and what somebody breaks, the gravest first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from touchstone.record.evidence.probe import Level, ProbeCase, ProbeReport, ProbeRequirement, RequirementCounts, Risk
from touchstone.report.format import plural
from touchstone.report.view import View

RISKS: dict[Risk, tuple[str, str]] = {
    "dangerous": ("dangerous", "accepted what must be refused, or read one message as two"),
    "breaks": ("breaks clients", "refused what must work, or answered unreadably"),
    "unclear": ("unclear refusal", "refused, but without the status that says why; safe"),
    "other": ("other", "another rule broken"),
}
"""Each risk's word and meaning, gravest first."""

_LEVELS: list[Level] = ["MUST", "SHOULD", "MAY"]
_NO_CASE = "was not played"


@dataclass(frozen=True)
class RequirementTotal:
    """One line of the short table: for each contender a number, None where there is none."""

    level: Level
    word: str
    means: str
    numbers: list[int | None]


@dataclass(frozen=True)
class RequirementMark:
    """How a requirement stands with one contender."""

    standing: str
    """The standing, or of a broken one the risk: a class of the page."""
    text: str


@dataclass(frozen=True)
class CaseLine:
    """A case that is not right for everybody: what each contender did."""

    id: str
    why: str
    did: Sequence[tuple[str, str]]
    """For each contender the verdict and what was seen."""


@dataclass(frozen=True)
class RequirementRow:
    """A requirement."""

    requirement: ProbeRequirement
    marks: list[RequirementMark]
    cases: list[CaseLine]
    fine: int
    """Cases that nobody breaks."""


@dataclass
class Conformance:
    """All that there is to show."""

    names: list[str]
    protocol: str
    """What the cases are about: HTTP/1.1 or HTTP/2."""
    counts: list[RequirementTotal] = field(default_factory=list)
    broken: dict[Level, list[RequirementRow]] = field(default_factory=dict)
    """What somebody breaks."""
    kept: list[ProbeRequirement] = field(default_factory=list)
    """What nobody breaks."""
    notes: list[str] = field(default_factory=list)
    """What must be known to read it: who died, whose POST was refused."""


def conformance(view: View) -> Conformance | None:
    """What the probes of a run found; None without any."""
    reports: dict[str, ProbeReport] = {}
    for sample in view.run.samples:
        if sample.probe is not None:
            reports.setdefault(sample.contender, sample.probe)
    names = [c.name for c in view.measured if c.name in reports]
    if not names:
        return None
    protocol = "HTTP/1.1" if reports[names[0]].protocol == "h1" else "HTTP/2"
    result = Conformance(names, protocol, counts=_counts([reports[name] for name in names]))
    for name in names:
        report = reports[name]
        if report.died_in is not None:
            result.notes.append(f"{name} died in the case {report.died_in}: what came after it was not played.")
        if report.refused is not None:
            result.notes.append(f"{name}: since the case {report.refused.after} {report.refused.what}.")
        if report.left_out:
            result.notes.append(
                f"{name} runs outside touchstone: cases with POST, PUT, PATCH, DELETE or another method "
                f"that may change data were left out ({report.left_out}). `touchstone probe URL --unsafe` plays them."
            )
        if report.post is not None and report.post.refused is not None:
            result.notes.append(f"{name}: {report.post.refused}; the cases that need it were not played.")
    known = {r.id: r for name in names for r in reports[name].requirements}
    lines = [_line(requirement, [reports[name] for name in names]) for requirement in known.values()]
    for level in _LEVELS:
        found = [line for line in lines if line.requirement.level == level and _faulty(line)]
        if found:
            result.broken[level] = sorted(found, key=_gravity)
    result.kept = [line.requirement for line in lines if not _faulty(line)]
    return result


def _counts(reports: list[ProbeReport]) -> list[RequirementTotal]:
    counts = []
    for level in _LEVELS[:2]:
        levels = [None if r.died_in or r.refused else r.kept.get(level) for r in reports]
        for risk, (word, means) in RISKS.items():
            counts.append(RequirementTotal(level, word, means, [_of(kept, risk) for kept in levels]))
        counts.append(RequirementTotal(level, "kept", "", [None if kept is None else kept.kept for kept in levels]))
    return counts


def _of(kept: RequirementCounts | None, risk: Risk) -> int | None:
    if kept is None:
        return None
    return {"dangerous": kept.dangerous, "breaks": kept.breaks, "unclear": kept.unclear, "other": kept.other}[risk]


def _faulty(line: RequirementRow) -> bool:
    return any(mark.standing in RISKS or mark.standing == "inconclusive" for mark in line.marks)


def _gravity(line: RequirementRow) -> tuple[int, str]:
    order = [*RISKS, "inconclusive"]
    worst = min(order.index(mark.standing) for mark in line.marks if mark.standing in order)
    return worst, line.requirement.id


def _line(requirement: ProbeRequirement, reports: list[ProbeReport]) -> RequirementRow:
    marks, names = [], dict.fromkeys(requirement.cases)
    for report in reports:
        found = next((r for r in report.requirements if r.id == requirement.id), None)
        marks.append(_mark(found))
        names |= dict.fromkeys(found.cases if found else [])
    cases = [_case(name, [{c.id: c for c in report.cases}.get(name) for report in reports]) for name in names]
    shown = [case for case in cases if any(verdict in ("wrong", "crash", "inconclusive") for verdict, _ in case.did)]
    return RequirementRow(requirement, marks, shown, len(cases) - len(shown))


def _mark(found: ProbeRequirement | None) -> RequirementMark:
    if found is None or found.standing == "not_applicable":
        return RequirementMark("not_applicable", "not applicable")
    if found.standing != "broken":
        return RequirementMark(found.standing, found.standing)
    risk: Risk = found.risk or "other"
    return RequirementMark(risk, f"{RISKS[risk][0]}: {found.wrong} of {plural(found.played, 'case')}")


def _case(name: str, played: list[ProbeCase | None]) -> CaseLine:
    why = next((case.why for case in played if case is not None), "")
    did = [(case.verdict, _did(case)) if case is not None else ("not_applicable", _NO_CASE) for case in played]
    return CaseLine(name, why, did)


def _did(case: ProbeCase) -> str:
    if case.verdict == "crash":
        return "died"
    if case.verdict in ("inconclusive", "not_applicable"):
        return case.reason or _NO_CASE
    return case.observed or _NO_CASE
