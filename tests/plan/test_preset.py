"""How long a load lasts, and how long its contender is looked at when it is over."""

from __future__ import annotations

import pytest

from touchstone.judge.rules.growth import REST_S
from touchstone.manifest.load import Load
from touchstone.plan.preset import PROFILES


def rest_s(profile: str, round_number: int, idle_s: float) -> float:
    load = Load.model_validate({"title": "t", "connections": 8, "idle_s": idle_s, "requests": [{"target": "/"}]})
    return PROFILES[profile].timing(load, round_number).idle_s


@pytest.mark.parametrize("profile", PROFILES)
def test_what_is_kept_after_a_load_can_be_judged_once(profile: str) -> None:
    assert rest_s(profile, 1, 0.0) > REST_S
    assert rest_s(profile, 2, 0.0) == 0.0


def test_a_load_may_ask_for_a_longer_rest() -> None:
    assert rest_s("normal", 1, 5.0) == rest_s("normal", 2, 5.0) == 5.0
    assert (rest_s("quick", 1, 5.0), rest_s("quick", 2, 5.0)) == (PROFILES["quick"].idle_most_s, 0.0)


def laps(profile: str, **stated: float) -> int:
    load = Load.model_validate({"title": "t", "connections": 8, "requests": [{"target": "/"}]} | stated)
    return PROFILES[profile].laps_of(load)


def test_an_open_loop_has_as_many_laps_of_longer_turns() -> None:
    of_load = {"title": "t", "connections": 8, "requests": [{"target": "/"}], "loop": "open", "rate": 2000}
    load, profile = Load.model_validate(of_load), PROFILES["normal"]
    assert profile.slice_of(load) == profile.open_slice_s > profile.slice_s
    assert profile.laps_of(load) == profile.laps
    assert profile.laps_of(load.model_copy(update={"seconds": 16.0})) == 32
    assert profile.with_slices_of(0.125).slice_of(load) == 0.125


def test_the_seconds_of_a_load_are_its_turns() -> None:
    assert laps("normal") == PROFILES["normal"].laps
    assert laps("normal", seconds=16.0) == 64
    assert laps("normal", seconds=0.1) == 1


def test_quick_goes_on_for_no_longer_than_it_always_does() -> None:
    assert laps("quick", seconds=16.0) == laps("quick") == PROFILES["quick"].laps
    assert laps("quick", seconds=1.0) == 4


def test_the_warm_up_that_a_load_states_is_the_least() -> None:
    load = Load.model_validate({"title": "t", "connections": 8, "warmup_s": 30.0, "requests": [{"target": "/"}]})
    assert PROFILES["normal"].warm_least_of(load) == 30.0
    assert PROFILES["quick"].warm_least_of(load) == PROFILES["quick"].warm_least_s
