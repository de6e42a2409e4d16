"""Sentences on a capacity search's objective and on how the rate grows with concurrency."""

from __future__ import annotations

from touchstone.record.load_spec import LoadSpec
from touchstone.report.format import plural
from touchstone.report.view import PhaseAndLoad, View


def offered_line(view: View, load: str) -> str:
    """A search's load in a line, without its own loop and rate, which trials replace."""
    connections = view.plan.load_specs.get(load, LoadSpec()).connections
    words = [f"load {load}", *([plural(connections, "connection")] if connections else [])]
    return " · ".join([*words, "each trial an open loop at a rate"])


def capacity_lines(view: View, place: PhaseAndLoad) -> list[str]:
    """The objective, then each contender whose trials a law fits; nothing for another phase."""
    if place.phase != "capacity":
        return []
    objectives = dict.fromkeys(s.capacity.objective for s in view.samples(place) if s.capacity)
    words = [f"The capacity is the highest rate within {objective}." for objective in objectives]
    return words + [one.sentence for one in view.judgement.scalings if one.load == place.load]
