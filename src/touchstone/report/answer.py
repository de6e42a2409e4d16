"""The answer of a run in one to three quotable sentences, made from the judgement."""

from __future__ import annotations

from touchstone.judge.judgement import Comparison, Severity, Verdict
from touchstone.judge.rules.waiting import waits_for_acknowledgement
from touchstone.report.contract import contract_of
from touchstone.report.format import NOTHING, percent, plural, ratio, seconds
from touchstone.report.scoreboard import Scoreboard, growing, scoreboard, why_at_least
from touchstone.report.table import TableColumn, TableRow
from touchstone.report.view import PhaseAndLoad, View
from touchstone.report.words import sign
from touchstone.vocabulary.figure import FIGURES, Better, FigureGroup, Unit

_NAMED = 3
"""Contenders of one kind that a sentence names; of more it gives the number."""


def answer(view: View) -> list[str]:
    """The leaders and their leads; memory; the biggest caveat. Empty if nothing was measured.

    Where nothing was loaded, it begins with who holds the contract.
    """
    board = scoreboard(view)
    if board is None:
        return _contracts(view)
    sentences = _contracts(view) if board.columns[0].place.opens else []
    sentences.append(_instead(view) + _first(view, board) + _elsewhere(view, board.columns))
    memory = next((c for c in board.columns[1:] if FigureGroup.MEMORY in c.figure.groups), None)
    if memory is not None and (sentence := _extremes(view, memory)):
        sentences.append(sentence + _unsettled(view, memory))
    if doubt := _doubt(view):
        sentences.append(doubt)
    return sentences


def _contracts(view: View) -> list[str]:
    """Contenders that keep the contract, and the number of checks."""
    held = (contract for c in view.measured if (contract := contract_of(view, c.name)))
    return [
        f"{contract.contender} keeps its contract: {plural(contract.checks, 'check')} passed."
        for contract in held
        if contract.checks and not contract.broken and not contract.failed_proofs
    ]


def _compared(view: View, place: PhaseAndLoad, figure: str) -> list[Comparison]:
    """Sound contenders against the baseline, the best first."""
    exhibits = {c.name for c in view.plan.contenders if c.exhibit}
    found = [
        c
        for contender in view.measured
        if contender.name not in exhibits and (c := view.comparison(place, contender.name, figure)) is not None
    ]
    towards_best = -1.0 if FIGURES[figure].better is Better.HIGHER else 1.0
    return sorted(found, key=lambda c: towards_best * (c.ratio or 0.0))


def _by_kind(found: list[Comparison]) -> dict[str, list[Comparison]]:
    kinds: dict[str, list[Comparison]] = {}
    for comparison in found:
        kinds.setdefault(sign(comparison).kind, []).append(comparison)
    return kinds


def _instead(view: View) -> str:
    """A sentence that names the contender that stands in for a failed baseline, if any."""
    planned = view.plan.baseline_among({c.name for c in view.plan.contenders if c.not_measured is None})
    failed = {one.contender for one in view.judgement.failed}
    if planned not in failed or view.baseline in (planned, None):
        return ""
    return f"{planned} failed, so the others are compared with {view.baseline}. "


def _first(view: View, board: Scoreboard) -> str:
    lead = board.columns[0]
    found = _compared(view, lead.place, lead.figure.name)
    title = view.title(lead.place)
    if not found:
        return f"{title}: {'; '.join(_alone(view, scored.row, board) for scored in board.rows)}."
    kinds = _by_kind(found)
    parts = [_decided(view, c) for c in kinds.get("better", [])[:_NAMED]]
    worse = kinds.get("worse", [])
    if level := kinds.get("equivalent", []):
        parts.append(f"{_names(level)} {_are(level)} level with {found[0].baseline}")
    parts += [_decided(view, c) for c in worse[:_NAMED]]
    if len(worse) > _NAMED:
        parts.append(f"{plural(len(worse) - _NAMED, 'other')} are further behind")
    open_ = kinds.get("undecided", []) + kinds.get("none", [])
    if open_:
        differ = "differs" if len(open_) == 1 else "differ"
        subject = f"{_names(open_)} {differ} from {found[0].baseline}"
        parts.append(f"it is undecided whether {subject} on {lead.figure.in_sentence}")
    if invalid := kinds.get("invalid", []):
        parts.append(
            f"{_names(invalid)} cannot be compared with {found[0].baseline}, because the measurement is invalid"
        )
    if lead.figure.unit is Unit.PER_SECOND and (why := why_at_least(view, found[0].baseline, lead.place.load)):
        parts.append(f"{found[0].baseline} itself {why}, so its rate is at least the one shown")
    parts += _unacknowledged(view, lead.place)
    return f"{title}: {'; '.join(parts)}."


def _alone(view: View, row: TableRow, board: Scoreboard) -> str:
    """A contender's own figures at the leading place, each with its unit: what a run without a comparison answers."""
    lead = board.columns[0]
    if row.cells[0].text == NOTHING:
        return f"{row.name} has no valid {lead.figure.in_sentence.removeprefix('the ')}" + _because(row.cells[0].reason)
    figures = [
        f"{column.figure.in_sentence} {cell.text} {column.scale.suffix}".rstrip()
        for column, cell in zip(board.columns, row.cells, strict=True)
        if column.place == lead.place and cell.text != NOTHING
    ]
    why = why_at_least(view, row.name, lead.place.load) if lead.figure.unit is Unit.PER_SECOND else None
    return f"{row.name}: {', '.join(figures)}" + _because(why and f"it {why}")


def _because(reason: str | None) -> str:
    return f" ({reason})" if reason else ""


def _unacknowledged(view: View, place: PhaseAndLoad) -> list[str]:
    """Contenders that wait for acknowledgements: their figures show neither work nor a queue."""
    waits: dict[str, float] = {}
    for finding in view.judgement.findings:
        if finding.code == waits_for_acknowledgement.code and finding.load == place.load and finding.contender:
            waits[finding.contender] = max(waits.get(finding.contender, 0.0), finding.evidence["wait_s"])
    return [f"{name} waits {seconds(wait)} for an acknowledgement within a response" for name, wait in waits.items()]


def _decided(view: View, c: Comparison) -> str:
    """A real difference, with a bound instead of a size while the contender still gets faster."""
    figure = FIGURES[c.figure]
    assert c.ratio is not None  # a comparison without one is not decided
    why = why_at_least(view, c.contender, c.load) if figure.unit is Unit.PER_SECOND else None
    bound = (" at least" if c.ratio > 1 else " at most") if why else ""
    tail = f" (it {why})" if why else ""
    if words := figure.counted:
        more = words.more if c.ratio > 1 else words.less
        return f"{c.contender} {words.verb}{bound} {_by(c.ratio)} {more} {words.things} than {c.baseline}{tail}"
    return f"{figure.in_sentence} of {c.contender} is {_of(c.ratio)} that of {c.baseline}{tail}"


def _by(value: float) -> str:
    if value >= 2:
        return f"{value:,.0f} times" if value >= 10 else f"{value:.2g} times"
    return percent(round(abs(value - 1), 3 if abs(value - 1) < 0.1 else 2))


def _of(value: float) -> str:
    """What a value is of another: a share below 1, else a multiple."""
    return percent(float(f"{value:.2g}")) + " of" if value < 1 else f"{ratio(value)}"


def _elsewhere(view: View, columns: list[TableColumn]) -> str:
    """Leaders under the other loads, a clause for each."""
    lead = columns[0]
    leaders: dict[str, list[str]] = {}
    for column in columns:
        if column.place.phase != lead.place.phase or column.place == lead.place:
            continue
        found = _compared(view, column.place, column.figure.name)
        if not found:
            continue
        ahead = _by_kind(found).get("better", [])
        leader = f"{ahead[0].contender} leads" if ahead else "no contender has a proven lead"
        if all(sign(c).kind == "worse" for c in found):
            leader = f"{found[0].baseline} leads"
        what = "" if column.figure == lead.figure else f" ({column.figure.in_sentence})"
        leaders.setdefault(leader, []).append(f'"{view.title(column.place)}"{what}')
    sentences = "; ".join(f"{leader} on {', '.join(titles)}" for leader, titles in leaders.items())
    return f" Other loads: {sentences}." if sentences else ""


def _extremes(view: View, column: TableColumn) -> str:
    """The least and the most of a cost, among what is decided."""
    found = _compared(view, column.place, column.figure.name)
    if not found:
        return ""
    base, what = found[0].baseline, column.figure.in_sentence
    decided = [c for c in found if sign(c).kind in ("better", "worse") and c.ratio is not None]
    if not decided:
        level = all(sign(c).kind == "equivalent" for c in found)
        how = "all are level" if level else "no difference is decided"
        return f"On {what} {how}."
    ends = decided[:1] if len(decided) == 1 else [decided[0], decided[-1]]
    shown = ", ".join(f"{c.contender} {ratio(c.ratio)}" for c in ends if c.ratio is not None)
    return f"{what[:1].upper()}{what[1:]}, as a multiple of {base}'s: {shown}."


def _unsettled(view: View, column: TableColumn) -> str:
    """Contenders whose memory is a lower bound: it still grew when the load ended."""
    if column.place.phase != "load":
        return ""
    names = [c.name for c in view.measured if not c.exhibit and growing(view, c.name, column.place.load)]
    return (
        f" The memory of {_listed(names)} still grew when the load ended, so the shown value is a lower bound."
        if names
        else ""
    )


def _doubt(view: View) -> str:
    """The gravest cause, once; an invalid run is never described without it. Among equally grave causes it
    is one that bears on the summary: a build that was disturbed is no doubt about throughput.
    """
    found = [cause for cause in view.causes if cause.severity is not Severity.NOTE and not cause.exhibits]
    if not found:
        return ""
    grave = next((cause for cause in found if cause.severity is found[0].severity and cause.scored), found[0])
    void = view.judgement.verdict is Verdict.INVALID
    opening = "Do not quote these figures" if void else "Biggest caveat"
    return f"{opening} ({grave.who}): {grave.statement.rstrip('.')}."


def _names(found: list[Comparison]) -> str:
    return _listed([c.contender for c in found])


def _listed(names: list[str]) -> str:
    if len(names) > _NAMED:
        return f"{', '.join(names[: _NAMED - 1])} and {len(names) - _NAMED + 1} more"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _are(found: list[Comparison]) -> str:
    return "is" if len(found) == 1 else "are"
