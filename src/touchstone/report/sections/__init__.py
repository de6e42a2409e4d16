"""One registry of the page's sections. A new section is one new file, its template, and its line here."""

from touchstone.report.sections import (
    absent,
    conformance,
    contract,
    crossings,
    environment,
    figures,
    findings,
    method,
    places,
    plan,
    requests,
    scoreboard,
    summary,
    why,
    why_p99,
)
from touchstone.report.sections.section import SectionBuilder

SECTIONS: tuple[SectionBuilder, ...] = (
    scoreboard.build,
    findings.build,
    absent.build,
    places.build,
    summary.build,
    why.build,
    why_p99.build,
    crossings.build,
    conformance.build,
    contract.build,
    figures.build,
    requests.build,
    plan.build,
    environment.build,
    method.build,
)
"""In the order of the page."""
