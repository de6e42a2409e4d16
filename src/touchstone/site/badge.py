"""Badges: a figure of a contender with its interval and its date, as SVG for a README."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from touchstone.judge.judgement import Verdict
from touchstone.report.format import decimals_for
from touchstone.report.html import environment
from touchstone.report.view import View
from touchstone.site.board import Board, BoardRow

_WIDTH = 6.6
"""The width of a character at 11 px in the widest of usual fonts, so that no text leaves its half."""


def badges(boards: Sequence[Board], views: Sequence[View]) -> Iterator[tuple[str, str]]:
    """Name and text of each badge: of every contender's newest valid value of the figure that leads its scenario."""
    leading: dict[str, Board] = {}
    for board in boards:
        held = leading.get(board.scenario)
        if held is None or (board.figure.scored and not held.figure.scored):
            leading[board.scenario] = board
    for board in leading.values():
        newest: dict[str, BoardRow] = {}
        for row in board.rows:
            if row.estimate.verdict is not Verdict.INVALID:
                newest[row.estimate.contender] = row
        for contender, row in newest.items():
            yield f"{board.scenario}/{contender.replace('/', '.')}.svg", _svg(board, row, views[row.run])


def _svg(board: Board, row: BoardRow, view: View) -> str:
    e, scale = row.estimate, board.scale
    decimals = decimals_for(e.median, scale, e.low, e.high)
    value = scale.text(e.median or 0.0, decimals)
    if e.low is not None and e.high is not None and e.low != e.high:
        value += f" ({scale.number(e.low, decimals)} to {scale.number(e.high, decimals)})"
    if e.verdict is not Verdict.VALID:
        value += f", {e.verdict}"
    parts: Mapping[str, str] = {
        "left": f"{e.contender}: {board.title}, {board.figure.title}",
        "right": f"{value} on {view.run.started_at:%Y-%m-%d}",
    }
    widths = {side: round(len(text) * _WIDTH + 12) for side, text in parts.items()}
    return environment().get_template("badge.svg").render(**parts, widths=widths, verdict=str(e.verdict))
