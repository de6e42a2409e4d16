"""A contender that does not speak a load's protocol is left out under it by every phase, and is not started."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tests.bench.test_at_once import contender
from touchstone.bench.base import Bench
from touchstone.manifest.catalogue import Contender
from touchstone.manifest.scenario import Capacity, Floor, Peak
from touchstone.manifest.stop import Stop
from touchstone.phase.base import EachInTurn
from touchstone.phase.capacity.phase import CapacityPhase
from touchstone.phase.floor.phase import FloorPhase
from touchstone.phase.load.phase import LoadPhase
from touchstone.phase.peak.phase import PeakPhase
from touchstone.phase.profile.phase import ProfilePhase
from touchstone.phase.stop.phase import StopPhase
from touchstone.record.sample import Sample
from touchstone.vocabulary.figure import FIGURES

from .test_peak import bench_of

Measured = Callable[[Bench, Contender], list[Sample]]


def whole_window(bench: Bench, one: Contender) -> list[Sample]:
    phase = LoadPhase()
    phase.whole = dict(bench.loads)
    return phase.measure(bench, one, 2, 3)


def searched(bench: Bench, one: Contender) -> list[Sample]:
    return [sample for found in CapacityPhase().together(bench, [one], 2) for sample in found]


def profiled(bench: Bench, one: Contender) -> list[Sample]:
    phase = ProfilePhase()
    assert list(phase.plan(bench, [one])) == [EachInTurn()], "and no rate is looked for"
    return phase.measure(bench, one, 2, 3)


PHASES: dict[str, Measured] = {
    "load": whole_window,
    "capacity": searched,
    "profile": profiled,
    "peak": lambda bench, one: PeakPhase().measure(bench, one, 2, 3),
    "stop": lambda bench, one: StopPhase().measure(bench, one, 2, 3),
    "floor": lambda bench, one: FloorPhase().measure(bench, one, None, 0),
}


@pytest.mark.parametrize("phase", PHASES)
def test_a_phase_leaves_out_what_does_not_speak_its_load(tmp_path: Path, phase: str) -> None:
    bench, unable = _bench(tmp_path)
    samples = PHASES[phase](bench, unable)
    assert samples
    names = {figure.name for figure in FIGURES.values() if figure.phase == phase}
    for sample in samples:
        assert sample.phase == phase
        assert sample.round == (None if phase == "floor" else 2)
        assert sample.failure is None
        assert sample.figures == {}
        assert sample.not_measured.keys() == names
        assert "HTTP/2 without TLS (h2c) is asked for, and the stack says" in next(iter(sample.not_measured.values()))
        assert sample.spec.protocol == "h2c" or phase == "floor"
        assert not sample.process.argv, "it was not started"


def test_a_stop_names_each_case_that_is_left_out(tmp_path: Path) -> None:
    bench, unable = _bench(tmp_path)
    assert [sample.load for sample in StopPhase().measure(bench, unable, 1, 0)] == ["idle", "in-flight", "stuck"]


def _bench(folder: Path) -> tuple[Bench, Contender]:
    """A bench whose only load is over h2c, without builds: a start would be an error; a contender of HTTP/1.1."""
    bench = bench_of(folder)
    loads = {name: load.model_copy(update={"protocol": "h2c"}) for name, load in bench.scenario.loads.items()}
    (name, *_) = loads
    parts = {
        "loads": loads,
        "capacity": Capacity(objective="p99 < 50ms"),
        "peak": Peak(load=name),
        "stop": Stop(load=name),
        "floor": Floor(load=name),
    }
    bench = replace(bench, scenario=bench.scenario.model_copy(update=parts), loads=loads)
    one = contender("plain", None)
    return bench, replace(one, stack=one.stack.model_copy(update={"speaks": ["h1"]}))
