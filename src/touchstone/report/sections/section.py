"""What a part of the page is."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from touchstone.report.view import View


@dataclass(frozen=True)
class PageSection:
    """A part of the page: its heading, its template and what the template shows."""

    anchor: str
    title: str
    template: str
    data: dict[str, Any] = field(default_factory=dict)


SectionBuilder = Callable[[View], Iterable[PageSection]]
"""Makes the sections that a run has samples for: none, one or several."""
