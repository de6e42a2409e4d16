"""What was measured, place by place: the table, the plots, and the findings about them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from touchstone.report.capacity import offered_line
from touchstone.report.causes import FindingGroup
from touchstone.report.headroom import headroom_lines
from touchstone.report.place_lines import place_lines
from touchstone.report.plots import PANELS, ratios
from touchstone.report.plots.panel import Panel
from touchstone.report.sections.section import PageSection
from touchstone.report.sentence import load_line
from touchstone.report.table import FigureTable, headline_tables
from touchstone.report.view import PhaseAndLoad, View


def build(view: View) -> Iterator[PageSection]:
    """A section for each headline table and for each place with plots alone, in plan order."""
    tables = {table.columns[0].place: table for table in headline_tables(view)}
    drawn: set[PhaseAndLoad] = set()
    shown: set[str] = set()
    for place in view.places:
        if place in drawn:
            continue
        table = tables.get(place)
        places = list(dict.fromkeys(column.place for column in table.columns)) if table else [place]
        drawn |= set(places)
        data = _data(view, places, table, shown)
        if table is not None:
            yield PageSection(table.anchor, table.title, "place.html", data)
        elif data["panels"]:
            yield PageSection(f"{place.phase}-{place.load or 'all'}", view.title(place), "place.html", data)


def panels_of(view: View, places: list[PhaseAndLoad]) -> list[Panel]:
    """The plots of these places, that of the ratios first."""
    panels = [ratios.build(view, places), *(build_panel(view, place) for place in places for build_panel in PANELS)]
    return [panel for panel in panels if panel is not None]


def _data(view: View, places: list[PhaseAndLoad], table: FigureTable | None, known: set[str]) -> dict[str, Any]:
    """What the template shows of these places. `known` are the exhibits that an earlier section has explained."""
    panels, load = panels_of(view, places), places[0].load
    rows = table.rows if table else []
    exhibits = [row for row in rows if row.contender and row.contender.exhibit and row.name not in known]
    known.update(row.name for row in exhibits)
    shown: set[int] = set()
    findings = [_not_shown(panel.findings, shown) for panel in panels]
    return {
        "table": table,
        "panels": list(zip(panels, findings, strict=True)),
        "findings": _not_shown(table.findings, shown) if table else [],
        "about": (offered_line if places[0].phase == "capacity" else load_line)(view, load) if load else "",
        "lines": [line for place in places for line in (*place_lines(view, place), *headroom_lines(view, place))],
        "exhibits": exhibits,
    }


def _not_shown(groups: list[FindingGroup], shown: set[int]) -> list[FindingGroup]:
    """The findings that this section has not shown yet: each stands once, at its plot if there is one."""
    fresh = [group for group in groups if group.number not in shown]
    shown.update(group.number for group in fresh)
    return fresh
