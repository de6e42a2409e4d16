"""The answer in sentences, and the scoreboard."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.report.answer import answer
from touchstone.report.scoreboard import about_groups, group_note, scoreboard
from touchstone.report.sections.section import PageSection
from touchstone.report.view import View


def build(view: View) -> Iterator[PageSection]:
    """The first section, if anything was measured that stands on a scoreboard."""
    board = scoreboard(view)
    if board is not None:
        data = {
            "answer": answer(view),
            "columns": list(zip(board.columns, board.heads, strict=True)),
            "rows": [(scored.row, scored.group, group_note(scored)) for scored in board.rows],
            "about": about_groups(view, board),
        }
        yield PageSection("answer", "The answer", "scoreboard.html", data)
