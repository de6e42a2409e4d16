"""The contract: which contenders did what the scenario asks, and how the others broke it."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.report.contract import contract_of
from touchstone.report.sections.section import PageSection
from touchstone.report.view import View


def build(view: View) -> Iterator[PageSection]:
    """All checks and proofs by contender."""
    contracts = [contract for c in view.measured if (contract := contract_of(view, c.name))]
    if contracts:
        yield PageSection("contract", "Contract", "contract.html", {"contracts": contracts})
