"""One self-contained HTML file: opens offline, refers to nothing outside, suits phones, desktops, light and dark."""

from __future__ import annotations

import re

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from touchstone.report.format import lower_first, percent, plural
from touchstone.report.sections import SECTIONS
from touchstone.report.sentence import machine, what_ran
from touchstone.report.view import PointBudget, View
from touchstone.report.words import VERDICT_MARKS

LIMIT = 2_000_000
"""Bytes that a page may have, so that it can be sent by mail and opened on a phone."""

_UNITS = "ns|µs|ms|s|B|KiB|MiB|GiB|/s|k/s|M/s"

_BUDGETS = (PointBudget(240, 60), PointBudget(120, 40), PointBudget(60, 20), PointBudget(30, 0))
"""From fine to coarse: the first that keeps the page within the limit is taken."""


def document(view: View) -> str:
    """report.html."""
    page = ""
    for budget in _BUDGETS:
        page = _page(view.within(budget))
        if len(page.encode()) <= LIMIT:
            break
    return page


def _page(view: View) -> str:
    sections = [section for build in SECTIONS for section in build(view)]
    template = environment().get_template("report.html")
    return template.render(
        view=view,
        plan=view.plan,
        run=view.run,
        judgement=view.judgement,
        sections=sections,
        what_ran=what_ran(view),
        machine=machine(view),
    )


def environment() -> Environment:
    """Everything is escaped: names and bodies come from outside."""
    made = Environment(
        loader=PackageLoader("touchstone.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["percent"] = percent
    made.filters["prose"] = _prose
    made.filters["plural"] = plural
    made.filters["lower_first"] = lower_first
    made.globals["marks"] = VERDICT_MARKS
    return made


def _prose(text: str) -> Markup:
    """Sentences from outside: everything escaped, `backticks` become code, a number stays with its unit."""
    escaped = re.sub(rf"(\d) (%|{_UNITS})(?!\w)", "\\1\N{NO-BREAK SPACE}\\2", str(escape(text)))
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", escaped))
