"""Faults of dependencies in a load: what is refused when the manifest is read, and with which words."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from touchstone.manifest.scenario import Scenario
from touchstone.vocabulary.dependency import DEPENDENCIES

REQUEST = {"name": "a", "target": "/", "expect": {"status": 200}}


def fault(act: str = "stall", at_s: float = 3, for_s: float = 2, **more: Any) -> dict[str, Any]:
    return {"at_s": at_s, "for_s": for_s, "dependency": "database", "act": act, **more}


def scenario(
    *faults: dict[str, Any], kind: str = "postgres", tables: dict[str, Any] | None = None, **load: Any
) -> Scenario:
    stated = {"title": "L", "loop": "open", "rate": 10.0, "seconds": 10.0, "requests": [REQUEST], "disturb": [*faults]}
    return Scenario.model_validate(
        {
            "schema": 1,
            "name": "s",
            "title": "S",
            "summary": "S",
            "ready": {"target": "/"},
            "dependencies": {"database": {"kind": kind, "env": "DATABASE_URL"}},
            "contract": [],
            "loads": {"bad": {name: value for name, value in (stated | load).items() if value is not None}},
            **(tables or {}),
        }
    )


@pytest.mark.parametrize(("kind", "act"), [(name, act) for name, kind in DEPENDENCIES.items() for act in kind.faults])
def test_every_kind_takes_the_faults_that_it_has(kind: str, act: str) -> None:
    assert scenario(fault(act), kind=kind).loads["bad"].disturb[0].act == act


@pytest.mark.parametrize(
    ("kind", "act"), [("postgres", "error"), ("kafka", "error"), ("sqlite", "refuse"), ("sqlite", "error")]
)
def test_a_fault_that_a_kind_does_not_have_names_those_that_it_has(kind: str, act: str) -> None:
    with pytest.raises(ValidationError, match=rf"of kind {kind} has no '{act}'; it has: stall"):
        scenario(fault(act), kind=kind)


def test_an_unknown_dependency_names_those_that_there_are() -> None:
    with pytest.raises(ValidationError, match="there is no dependency 'cache'; there are: database"):
        scenario(fault() | {"dependency": "cache"})


@pytest.mark.parametrize(("at_s", "for_s", "fits"), [(6, 2, True), (6.1, 2, False), (12, 2, False), (1, 7.1, False)])
def test_a_fault_is_within_the_load_and_leaves_time_to_recover(at_s: float, for_s: float, *, fits: bool) -> None:
    if fits:
        assert scenario(fault(at_s=at_s, for_s=for_s))
        return
    with pytest.raises(ValidationError, match=r"set `seconds` to [\d.]+ or more, or move the fault"):
        scenario(fault(at_s=at_s, for_s=for_s))


@pytest.mark.parametrize(("at_s", "for_s"), [(0.9, 1), (-1, 1), (3, 0), (3, -1), (float("nan"), 1), (3, float("inf"))])
def test_times_that_are_none_are_refused(at_s: float, for_s: float) -> None:
    with pytest.raises(ValidationError):
        scenario(fault(at_s=at_s, for_s=for_s))


def test_faults_follow_each_other_with_a_second_between() -> None:
    assert scenario(fault(at_s=1, for_s=2), fault(at_s=4, for_s=2))
    for second in (2.0, 3.9):
        with pytest.raises(ValidationError, match="move it to 4 or later"):
            scenario(fault(at_s=second, for_s=2), fault(at_s=1, for_s=2))


@pytest.mark.parametrize(
    ("act", "setting", "words"),
    [
        ("stall", {"delay_ms": 5.0}, "'stall' takes no `delay_ms`: leave it out"),
        ("slow", {"status": 503}, "it takes `delay_ms` and `jitter_ms`"),
        ("full", {"bytes_per_s": 5.0}, "it takes `connections`"),
        ("slow", {"delay_ms": 10.0, "jitter_ms": 11.0}, "`jitter_ms` is above the delay"),
        ("slow", {"jitter_ms": 101.0}, "`jitter_ms` is above the delay"),
    ],
)
def test_settings_of_another_fault_are_refused(act: str, setting: dict[str, Any], words: str) -> None:
    with pytest.raises(ValidationError, match=words):
        scenario(fault(act, **setting))


@pytest.mark.parametrize(
    ("load", "words"),
    [
        ({"loop": "closed", "rate": None}, 'needs `loop = "open"`'),
        ({"loop": "ramp"}, 'needs `loop = "open"`'),
        ({"seconds": None}, "needs `seconds`"),
        ({"protocol": "h2c"}, "needs `requests` over HTTP/1.1"),
        ({"requests": [], "journeys": [{"name": "j", "steps": [REQUEST]}]}, "needs `requests` over HTTP/1.1"),
    ],
)
def test_a_load_without_what_faults_need_says_what_to_set(load: dict[str, Any], words: str) -> None:
    with pytest.raises(ValidationError, match=words):
        scenario(fault(), **load)


def test_no_other_phase_takes_a_load_with_faults() -> None:
    with pytest.raises(ValidationError, match="'bad' has faults, and belongs to the phase `disturb`"):
        scenario(fault(), tables={"stop": {"load": "bad"}})
    with pytest.raises(ValidationError, match="'bad' has faults, and belongs to the phase `disturb`"):
        scenario(fault(), tables={"capacity": {"objective": "p99 < 5ms", "loads": ["bad"]}})


def test_a_proof_counts_requests_of_the_mix_in_loads_with_faults_alone() -> None:
    proof = {"says": "p", "dependency": "database", "query": "SELECT 1", "equals": "ok", "requests": ["a"]}
    assert scenario(fault(), proofs=[proof]).loads["bad"].proofs[0].requests == ["a"]
    with pytest.raises(ValidationError, match="counts the request 'b', and there are: a"):
        scenario(fault(), proofs=[proof | {"requests": ["b"]}])
    with pytest.raises(ValidationError, match="belongs to loads with `disturb`"):
        scenario(proofs=[proof])
