"""In a lap go/plain, rust/plain and the null server are on in turn, and rust/plain works for go/plain."""

from __future__ import annotations

import pytest

from touchstone.judge.judge import judge
from touchstone.judge.judgement import Severity

from ..slices import given_away_run, resting_run
from ..sound import codes, fired

CODE = "work-given-away"


def test_who_has_a_neighbour_do_its_work_is_invalid_and_the_neighbour_is_not_blamed() -> None:
    run = given_away_run(lambda _lap: 0.25)
    found = fired(run, CODE)
    assert {(f.contender, f.severity) for f in found} == {("go/plain", Severity.INVALID)}
    assert "rust/plain" in found[0].statement
    assert not codes(run) & {"works-while-off", "neighbour-works"}
    assert [one.contender for one in judge(run).failed] == ["go/plain"]


@pytest.mark.parametrize(("off", "is_given_away"), [(0.06, True), (0.065, False), (0.25, False)])
def test_the_null_servers_slices_are_the_control(off: float, is_given_away: bool) -> None:
    found = codes(given_away_run(lambda _lap: 0.25, off=off))
    assert (CODE in found) is is_given_away
    assert "works-while-off" in found  # its work in those is its own


@pytest.mark.parametrize(("of_five", "is_given_away"), [(5, True), (3, False), (1, False)])
def test_what_falls_into_some_slices_only_was_put_off(of_five: int, is_given_away: bool) -> None:
    found = codes(given_away_run(lambda lap: 0.4 if lap % 5 < of_five else 0.0))
    assert (CODE in found) is is_given_away


@pytest.mark.parametrize(("cpus", "is_given_away"), [(0.051, True), (0.049, False)])
def test_a_twentieth_of_its_own_cpu_is_nothing_to_speak_of(cpus: float, is_given_away: bool) -> None:
    assert (CODE in codes(given_away_run(lambda _lap: cpus, own_cpus=1.0))) is is_given_away


@pytest.mark.parametrize(("cpus", "is_given_away"), [(0.011, True), (0.009, False)])
def test_timers_of_an_idle_runtime_do_nobodys_work(cpus: float, is_given_away: bool) -> None:
    assert (CODE in codes(given_away_run(lambda _lap: cpus, own_cpus=0.04))) is is_given_away


def test_a_neighbour_that_never_rests_works_for_nobody() -> None:
    assert CODE not in codes(resting_run(lambda name: 0.5 if name == "rust/plain" else 0.0))
