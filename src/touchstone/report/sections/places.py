"""What was measured, place by place: the table, the plots, and the findings about them."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.report.plots import PANELS, ratios
from touchstone.report.plots.panel import Panel
from touchstone.report.sections.section import Section
from touchstone.report.table import Table, headline_tables
from touchstone.report.view import FindingGroup, Place, View


def build(view: View) -> Iterator[Section]:
    """A section for each headline table, and for each place that has only plots."""
    tables = headline_tables(view)
    drawn: set[Place] = set()
    for table in tables:
        places = list(dict.fromkeys(column.place for column in table.columns))
        drawn |= set(places)
        yield _section(view, table.anchor, table.title, table, _panels(view, places))
    for place in view.places:
        panels = [] if place in drawn else _panels(view, [place])
        if panels:
            yield _section(view, f"{place.phase}-{place.load or 'all'}", view.title(place), None, panels)


def _panels(view: View, places: list[Place]) -> list[Panel]:
    panels = [ratios.build(view, places), *(build_panel(view, place) for place in places for build_panel in PANELS)]
    return [panel for panel in panels if panel is not None]


def _section(view: View, anchor: str, title: str, table: Table | None, panels: list[Panel]) -> Section:
    about = ""
    if table is not None and table.columns[0].place.load:
        about = _about(view, table.columns[0].place.load)
    exhibits = (
        [row for row in table.rows if row.kind == "exhibit" or (row.contender and row.contender.exhibit)]
        if table
        else []
    )
    told: set[int] = set()
    beside = [_untold(panel.findings, told) for panel in panels]
    data = {
        "table": table,
        "panels": list(zip(panels, beside, strict=True)),
        "findings": _untold(table.findings, told) if table else [],
        "about": about,
        "exhibits": exhibits,
    }
    return Section(anchor, title, "place.html", data)


def _untold(groups: list[FindingGroup], told: set[int]) -> list[FindingGroup]:
    """The findings that this section has not shown yet: each stands once, at its plot if there is one."""
    fresh = [group for group in groups if group.number not in told]
    told.update(group.number for group in fresh)
    return fresh


def _about(view: View, load: str) -> str:
    """The load in a line, from its specification."""
    spec = view.plan.load_specs.get(load, {})
    parts = [f"load `{load}`"]
    if spec.get("loop"):
        parts.append(f"{spec['loop']} loop")
    if spec.get("connections"):
        parts.append(f"{spec['connections']} connections")
    if spec.get("rate"):
        parts.append(
            f"up to {spec['rate']:,.0f} requests/s" if spec.get("loop") != "open" else f"{spec['rate']:,.0f} requests/s"
        )
    text = " · ".join(parts).replace("`", "")
    return f"{spec['about']} ({text})" if spec.get("about") else text
