"""What was measured, place by place: the table, the plots, and the findings about them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from touchstone.report.plots import PANELS, ratios
from touchstone.report.plots.panel import Panel
from touchstone.report.sections.section import Section
from touchstone.report.sentence import load_line
from touchstone.report.table import Table, headline_tables
from touchstone.report.view import FindingGroup, Place, View


def build(view: View) -> Iterator[Section]:
    """A section for each headline table, and for each place that has only plots."""
    drawn: set[Place] = set()
    for table in headline_tables(view):
        places = list(dict.fromkeys(column.place for column in table.columns))
        drawn |= set(places)
        data = _data(view, places, table)
        yield Section(table.anchor, table.title, "place.html", data)
    for place in view.places:
        data = _data(view, [place], None) if place not in drawn else {}
        if data.get("panels"):
            yield Section(f"{place.phase}-{place.load or 'all'}", view.title(place), "place.html", data)


def _panels(view: View, places: list[Place]) -> list[Panel]:
    panels = [ratios.build(view, places), *(build_panel(view, place) for place in places for build_panel in PANELS)]
    return [panel for panel in panels if panel is not None]


def _data(view: View, places: list[Place], table: Table | None) -> dict[str, Any]:
    """What the template shows of these places."""
    panels, load = _panels(view, places), places[0].load
    exhibits = [row for row in table.rows if row.contender and row.contender.exhibit] if table else []
    told: set[int] = set()
    beside = [_untold(panel.findings, told) for panel in panels]
    return {
        "table": table,
        "panels": list(zip(panels, beside, strict=True)),
        "findings": _untold(table.findings, told) if table else [],
        "about": load_line(view, load) if load else "",
        "exhibits": exhibits,
    }


def _untold(groups: list[FindingGroup], told: set[int]) -> list[FindingGroup]:
    """The findings that this section has not shown yet: each stands once, at its plot if there is one."""
    fresh = [group for group in groups if group.number not in told]
    told.update(group.number for group in fresh)
    return fresh
