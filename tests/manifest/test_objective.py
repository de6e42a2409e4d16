"""Objectives are read as people write them, and refused with the reason and an example."""

from __future__ import annotations

import pytest

from touchstone.manifest.condition import ConditionError
from touchstone.manifest.load import Load
from touchstone.manifest.objective import parse_objective
from touchstone.manifest.scenario import Capacity


def test_terms_are_upper_bounds_that_hold_together() -> None:
    objective = parse_objective("p99 < 50ms, errors < 0.1%")
    assert [(term.quantity, term.bound) for term in objective.terms] == [("p99", 0.05), ("errors", 0.001)]
    assert objective.latency.quantity == "p99"


def test_errors_are_bounded_where_nothing_is_said_of_them() -> None:
    assert [term.text for term in parse_objective("p50<1s").terms] == ["p50<1s", "errors < 0.1%"]


def test_events_of_streams_may_be_bounded() -> None:
    objective = parse_objective("event_gap_p99 < 100ms, first_event_p99 < 1s")
    assert objective.of_streams == objective.latency.quantity == "event_gap_p99"
    assert objective.least_requests == 1_000
    assert parse_objective("event_gap_max < 1s").least_requests == 100
    assert parse_objective("p99 < 100ms").of_streams is None


@pytest.mark.parametrize(("loads", "named"), [([], True), (["plain"], False), (["ticks"], True)])
def test_only_loads_of_streams_are_searched_for_one(loads: list[str], named: bool) -> None:
    stream = {"target": "/", "stream": {"kind": "sse", "events": 2}}
    known = {
        name: Load.model_validate({"title": name, "requests": [request]})
        for name, request in (("plain", {"target": "/"}), ("ticks", stream))
    }
    capacity = Capacity(objective="event_gap_p99 < 100ms", loads=loads)
    if not named:
        with pytest.raises(ValueError, match="the load plain has no `stream`"):
            capacity.refuse_without_streams(known)
        return
    capacity.refuse_without_streams(known)
    assert list(capacity.searched(known)) == ["ticks"]
    with pytest.raises(ValueError, match="the loads have no `stream`"):
        capacity.refuse_without_streams({"plain": known["plain"]})


@pytest.mark.parametrize(
    ("text", "least"),
    [
        ("p50 < 5ms", 100),
        ("max < 5ms", 100),
        ("mean < 5ms, max < 9ms", 100),
        ("p99 < 5ms", 1_000),
        ("p99.9 < 5ms", 10_000),
        ("p50 < 5ms, errors < 0.1%", 1_000),
    ],
)
def test_a_further_percentile_needs_more_requests(text: str, least: int) -> None:
    assert parse_objective(text).least_requests == least


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "empty"),
        ("p99", "not a condition"),
        ("p98 < 5ms", "not a condition"),
        ("p99 < 5%", "held against a time"),
        ("errors < 5ms", "held against a share"),
        ("p99 < 5", "give the bound its unit"),
        ("p99 > 5ms", "upper bound"),
        ("p99 < 0ms", "nothing lies below 0"),
        ("rate < 1000", "what is searched for"),
        ("errors < 1%", "bounds no latency"),
        ("p99 < 5ms, p99 < 6ms", "bounds p99 twice"),
        ("p50 < 50ms, p99 < 20ms", "contradicts itself"),
        ("p99 < 5ms, errors < 60%", "more than half"),
    ],
)
def test_what_is_no_objective_is_refused_with_the_reason(text: str, reason: str) -> None:
    with pytest.raises(ConditionError, match=reason):
        parse_objective(text)


def test_who_writes_no_bound_is_told_how_an_objective_is_written() -> None:
    """The conditions of `load --fail-if` name what must not be, and so point the other way."""
    with pytest.raises(ConditionError) as told:
        parse_objective("p99 << 5ms")
    assert "'p99 < 50ms" in told.value.fix
    assert ">" not in told.value.fix
    assert "rate" not in told.value.fix
