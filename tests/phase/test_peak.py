"""The start under load with a real server: it counts from exec, and sees what is wrong from the first second on."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.run.demo import SCENARIO, STACK
from touchstone.bench.base import Bench, Built
from touchstone.engine.client import Event
from touchstone.judge.reading.case import Case
from touchstone.judge.rules.answers import wrong_bodies
from touchstone.manifest.catalogue import find_scenario, select_contenders
from touchstone.phase.peak.phase import PeakPhase
from touchstone.plan.placement import available_cpus, plan_placement
from touchstone.plan.preset import PROFILES
from touchstone.record.run import Environment, Plan, Run
from touchstone.record.sample import Sample
from touchstone.record.store import RunStore

from .server import server

WITHIN_S = 5.0
SLEEPS_S = 1.5

_SERVER = server("""
time.sleep(float(os.environ.get("SLEEPS", "0")))
wrong_until = time.monotonic() + float(os.environ.get("WRONG_FOR", "0"))
asked = 0


def answer(method, target):
    global asked
    asked += 1
    # The lab's own question is answered correctly; a load of the first second is not.
    return b"200 OK", b"pang" if 1 < asked and time.monotonic() < wrong_until else b"pong"
""")


class Quiet:
    """Nobody watches."""

    def begins(self, sample: Sample) -> None:
        """Ignore it."""

    def step(self, text: str) -> None:
        """Ignore it."""

    def event(self, event: Event) -> None:
        """Ignore it."""

    def say(self, text: str) -> None:
        """Ignore it."""


def bench_of(tmp_path: Path) -> Bench:
    folder = tmp_path / "demo"
    (folder / "slow").mkdir(parents=True)
    (folder / "scenario.toml").write_text(SCENARIO + '[peak]\nload = "ping"\n')
    (folder / "slow/server.py").write_text(_SERVER)
    (folder / "slow/stack.toml").write_text(STACK.format(name="slow", version=">=3.11", build="[]", fault=""))
    scenario = find_scenario(str(folder), tmp_path)
    plan = Plan(
        run_id="r", scenario="demo", scenario_version=1, scenario_title="Demo", profile="quick", phases=["peak"],
        loads=[], rounds=1, seed=1, orders=[["slow/plain"]], contenders=[],
    )  # fmt: skip
    store = RunStore(tmp_path / "run")
    store.open(plan, Environment())
    return Bench(
        scenario=scenario.scenario,
        loads={},
        profile=replace(PROFILES["quick"], peak_s=WITHIN_S),
        placement=plan_placement(available_cpus(), dependencies=False),
        store=store,
        scratch=tmp_path,
        seed=1,
        watcher=Quiet(),
    )


def start(tmp_path: Path, **env: str) -> Sample:
    bench = bench_of(tmp_path)
    (contender,) = select_contenders(find_scenario(str(tmp_path / "demo"), tmp_path), [], exhibits=False)
    folder = tmp_path / "demo/slow"
    command = ("/usr/bin/env", "python3", "server.py")
    built = Built(folder, (), command, {"PATH": "/usr/bin:/bin", **env})
    (sample,) = PeakPhase().measure(replace(bench, builds={contender.name: built}), contender, 1, 0)
    return sample


def test_what_a_slow_start_costs_is_in_the_totals(tmp_path: Path) -> None:
    sample = start(tmp_path, SLEEPS=str(SLEEPS_S))
    assert sample.failure is None, sample.failure
    peak, result = sample.peak, sample.result
    assert peak is not None
    assert result is not None
    assert SLEEPS_S <= peak.ready_s <= peak.load_begins_s
    assert len(peak.served) == WITHIN_S
    assert peak.served[0] == 0
    assert peak.served == sorted(peak.served)
    # The engine counts what was asked within the window; by the last second all but the last answers are in.
    assert 0 < peak.served[-1] <= result.totals.ok
    assert peak.served[-1] == pytest.approx(result.totals.ok, rel=0.2)
    assert sample.figures["peak_served"] == peak.served[-1]
    assert result.window.measured_s == pytest.approx(WITHIN_S - peak.load_begins_s, abs=0.5)
    assert sample.checks, "the contract is checked again at the end"


def test_wrong_answers_of_the_first_second_are_found(tmp_path: Path) -> None:
    sample = start(tmp_path, WRONG_FOR="1.5")
    assert sample.peak is not None
    assert sample.result is not None
    assert sample.result.counts.errors.wrong_body > 0
    run = Run(
        plan=Plan.model_validate_json((tmp_path / "run/plan.json").read_text()),
        environment=Environment(),
        samples=[sample],
        started_at=sample.started_at,
    )
    (finding,) = wrong_bodies.findings(Case(run, 0.05, 0.95))
    assert finding.sample == sample.id
    assert sample.peak.served[0] < sample.peak.served[-1] / WITHIN_S / 2


def test_a_start_slower_than_the_watch_is_a_failure_and_no_zero(tmp_path: Path) -> None:
    sample = start(tmp_path, SLEEPS=str(WITHIN_S + 0.5))
    assert sample.failure is not None
    assert "the load could begin only" in sample.failure.what
    assert sample.figures == {}


def test_the_tare_has_a_rate_and_nothing_that_belongs_to_a_start(tmp_path: Path) -> None:
    (tare,) = PeakPhase().tares(bench_of(tmp_path), 1)
    assert tare.failure is None
    assert (tare.phase, tare.load, tare.contender) == ("peak", None, "tare")
    assert tare.figures.keys() == {"peak_rate"}
    assert tare.figures["peak_rate"] > 0
