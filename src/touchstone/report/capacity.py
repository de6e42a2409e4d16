"""Sentences on a capacity search: objective, growth of the rate, and the burst beyond the capacity."""

from __future__ import annotations

import statistics

from touchstone.judge.language.quantity import share
from touchstone.record.evidence.capacity import BurstEvidence
from touchstone.record.load_spec import LoadSpec
from touchstone.report.format import plural, seconds
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
    words += [one.sentence for one in view.judgement.scalings if one.load == place.load]
    bursts = {one.name: _bursts(view, place, one.name) for one in view.measured}
    return words + [_burst_sentence(name, found) for name, found in bursts.items() if found]


def _bursts(view: View, place: PhaseAndLoad, contender: str) -> list[BurstEvidence]:
    """The bursts of a contender, one a round."""
    found = (sample.capacity.burst for sample in view.samples(place, contender) if sample.capacity)
    return [burst for burst in found if burst is not None and not burst.void]


def _burst_sentence(contender: str, bursts: list[BurstEvidence]) -> str:
    """What a contender does beyond its capacity: the behaviour of most rounds, and the medians of all."""
    behaviour = statistics.mode(burst.behaviour for burst in bursts)
    goodput = statistics.median((burst.goodput_at(2.0) or 0.0) / burst.capacity for burst in bursts)
    deadline = seconds(bursts[0].deadline_s)
    words = (
        f"{contender} {behaviour}: at twice its capacity it answers {share(goodput)} of its capacity within {deadline}"
    )
    times = [burst.recovery_s for burst in bursts if burst.recovery_s is not None]
    if behaviour in ("dies", "never recovers") or not times:
        return f"{words}.{_smallest(bursts)}"
    return f"{words}, and recovers {seconds(statistics.median(times))} after the burst."


def _smallest(bursts: list[BurstEvidence]) -> str:
    """The shortest burst without recovery, with a space before; empty where none is known."""
    found = [one for burst in bursts if (one := burst.smallest) is not None and one.stays_s is not None]
    if not found:
        return ""
    shortest = statistics.median(one.stays_s or 0.0 for one in found)
    window = seconds(found[0].window_s)
    how = "in which it ends" if all(one.died for one in found) else f"after which it is not back within {window}"
    return f" The shortest burst of {found[0].height:g} times its capacity {how}: {seconds(shortest)}."
