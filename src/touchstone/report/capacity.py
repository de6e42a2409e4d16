"""What a capacity was searched for, and how the rate grows with the requests in the system, in sentences."""

from __future__ import annotations

from touchstone.report.view import Place, View


def capacity_lines(view: View, place: Place) -> list[str]:
    """The objective, then each contender whose trials a law fits; nothing for another phase."""
    if place.phase != "capacity":
        return []
    objectives = dict.fromkeys(s.capacity.objective for s in view.samples(place) if s.capacity)
    told = [f"The capacity is the highest rate within {objective}." for objective in objectives]
    return told + [one.sentence for one in view.judgement.scalings if one.load == place.load]
