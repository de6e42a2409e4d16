"""Sentences that open a place of a report, by its phase."""

from __future__ import annotations

from touchstone.report.bounds import bounds_lines
from touchstone.report.capacity import capacity_lines
from touchstone.report.disturb import disturb_lines
from touchstone.report.negotiated import negotiated_lines
from touchstone.report.stop import stop_lines
from touchstone.report.view import PhaseAndLoad, View


def place_lines(view: View, place: PhaseAndLoad) -> list[str]:
    """What is said of a place before its table; nothing for most phases."""
    readers = (capacity_lines, stop_lines, disturb_lines, bounds_lines, negotiated_lines)
    return [line for lines in readers for line in lines(view, place)]
