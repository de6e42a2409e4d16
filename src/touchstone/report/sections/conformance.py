"""The conformance matrix: every case against every contender, with the RFC's section and level."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from touchstone.report.detail import Probe, ProbeCase, read
from touchstone.report.sections.section import Section
from touchstone.report.view import View

_MARKS = {
    "right": ("\N{CHECK MARK}", "right"),
    "tolerated": ("\N{WHITE CIRCLE}", "tolerated"),
    "wrong": ("\N{BALLOT X}", "wrong"),
    "crash": ("\N{BALLOT X}\N{BALLOT X}", "crash"),
    "inconclusive": ("?", "inconclusive"),
    "not_applicable": ("\N{EN DASH}", "not applicable"),
}
_LEVELS = ["MUST", "SHOULD", "MAY"]


@dataclass(frozen=True)
class Mark:
    """One case of one contender."""

    sign: str
    word: str
    why: str


@dataclass(frozen=True)
class Case:
    """One line of the matrix."""

    case: ProbeCase
    marks: list[Mark]
    differs: bool


def build(view: View) -> Iterator[Section]:
    """The matrix, if any contender was probed."""
    probes: dict[str, dict[str, ProbeCase]] = {}
    for sample in view.run.samples:
        probe = read(sample, "probe", Probe)
        if probe is not None and sample.contender not in probes:
            probes[sample.contender] = {case.id: case for case in probe.cases}
    if not probes:
        return
    names = [c.name for c in view.measured if c.name in probes]
    known = {case.id: case for name in names for case in probes[name].values()}
    categories: dict[str, list[Case]] = {}
    for case in sorted(known.values(), key=lambda c: (c.category, _LEVELS.index(c.level), c.id)):
        marks = [_mark(probes[name].get(case.id)) for name in names]
        faulty = any(mark.word in ("wrong", "crash", "inconclusive") for mark in marks)
        categories.setdefault(case.category, []).append(Case(case, marks, faulty))
    legend = [(sign, word) for sign, word in _MARKS.values()]
    yield Section(
        "conformance",
        "Conformance, case by case",
        "conformance.html",
        {"names": names, "categories": categories, "legend": legend},
    )


def _mark(case: ProbeCase | None) -> Mark:
    if case is None:
        return Mark("", "not played", "")
    sign, word = _MARKS.get(case.verdict, ("?", case.verdict))
    return Mark(sign, word, case.reason or case.observed or "")
