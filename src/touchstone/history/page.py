"""The page of a history: one file that opens offline, a drawing for each figure that changed or leads a report."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from touchstone.history.described import DescribedSeries
from touchstone.history.plot import draw, shown_words, size_words
from touchstone.report.html import environment

_MOST_DRAWINGS = 60
"""A page that opens on a phone; who wants others names them by `--figure`."""


def document(seen: Sequence[DescribedSeries], store: str) -> str:
    """The page, what changed first."""
    leading = [one for one in seen if one.text.changes or one.series.first.about.headline]
    ordered = sorted(leading or seen, key=lambda one: (not one.text.changes, one.series.first.scenario))
    cards = cards_of(ordered)
    return (
        environment()
        .get_template("history.html")
        .render(
            cards=cards,
            size=size_words,
            left_out=len(seen) - len(cards),
            store=store,
            commits=len({entry.commit for one in seen for entry in one.series.entries}),
            changed=sum(bool(one.text.changes) for one in seen),
        )
    )


def cards_of(seen: Sequence[DescribedSeries]) -> list[dict[str, Any]]:
    """A drawing with its words for each series, as many as a page may have."""
    return [
        {
            "text": one.text,
            "title": one.series.first.about.title,
            "place": one.series.first.place,
            "newest": shown_words(one.series.values[-1], one.series),
            "drawing": draw(one.series, one.text.changes, f"history {number}"),
        }
        for number, one in enumerate(seen[:_MOST_DRAWINGS])
    ]
