"""The catalogue is well formed, and a quick part of it holds; `make faults` measures the whole."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults.catalogue import FAULTS, GROUND, NOT_PLANTABLE, SETUPS, SOUND
from tests.faults.machine import DISTURBANCES
from tests.faults.plan import HERE, NAMES, write_scenario
from tests.faults.runner import MACHINE_NOISE, Outcome, carry_out, prepare, weigh
from tests.faults.setup import Setup
from touchstone.judge.judgement import Finding, Severity
from touchstone.judge.rules.table import RULES
from touchstone.manifest.catalogue import read_scenario_folder

QUICK_FAULTS = (
    "wrong-byte",
    "some-500",
    "truncated",
    "closes-each",
    "exits",
    "answers-anything",
    "loses-rows",
    "skips-work-in-a-crowd",
    "build-fails",
    "swap",
    "milliseconds",
    "warm-build",
    "two-engines",
)
QUICK_SOUND = ("plain", "variable-bodies", "no-keep-alive", "limiter")


def expected(setup: Setup) -> set[str]:
    return {code for alternatives in setup.expects for code in alternatives.split("|")}


def test_the_catalogue_is_large_enough_and_ids_are_unique() -> None:
    assert len(FAULTS) >= 60
    assert len(SOUND) >= 20
    ids = [setup.id for setup in (*SETUPS, GROUND)]
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize("setup", SETUPS, ids=lambda setup: setup.id)
def test_an_entry_is_well_formed(setup: Setup) -> None:
    assert expected(setup) <= set(RULES)
    assert setup.says
    assert len(setup.servers) <= len(NAMES)
    assert setup.machine is None or setup.machine in DISTURBANCES
    assert (setup.edit is not None) == (setup.planted == "record")
    assert setup.sound == (setup in SOUND)


def test_every_rule_that_weighs_has_a_fault_or_a_reason() -> None:
    weighing = {code for code, rule in RULES.items() if rule.severity is not Severity.NOTE}
    planted = {code for setup in FAULTS for code in expected(setup)}
    assert weighing - planted == set(NOT_PLANTABLE)


def test_codes_that_noise_excuses_are_rules() -> None:
    assert set(RULES) >= MACHINE_NOISE


@pytest.mark.parametrize("setup", [s for s in SETUPS if s.edit is None], ids=lambda setup: setup.id)
def test_a_set_up_is_a_scenario_that_the_lab_reads(setup: Setup, home: Path, tmp_path: Path) -> None:
    folder = read_scenario_folder(write_scenario(setup, tmp_path / "scenario", home / "programs"))
    assert [stack.name for stack in folder.stacks] == sorted(NAMES[: len(setup.servers)])


def test_knobs_are_known_to_the_programs() -> None:
    header = (HERE / "server" / "server.h").read_text()
    of_server = set(re.findall(r"X\((\w+)\)", header))
    of_python = {
        name: set(re.findall(r'^    "(\w+)",$', (HERE / f"{name}.py").read_text(), re.MULTILINE))
        for name in ("service", "consumer")
    }
    for setup in SETUPS:
        for server in setup.servers:
            known = of_python.get(server.program, of_server)
            assert set(server.knobs) <= known, setup.id


def test_a_missed_fault_a_false_alarm_and_an_excused_one_are_told_apart() -> None:
    fault = Setup("fault", "something", ("swapped",))
    missed = Outcome(
        fault, findings=[Finding(code="cpu-stolen", severity=Severity.SUSPECT, statement="", next_step="")]
    )
    mild = Outcome(fault, findings=[Finding(code="swapped", severity=Severity.NOTE, statement="", next_step="")])
    caught = Outcome(fault, findings=[Finding(code="swapped", severity=Severity.SUSPECT, statement="", next_step="")])
    quiet = Outcome(Setup("sound", "nothing"), findings=missed.findings)
    noisy = dataclasses.replace(quiet, noise=["other processes use 50 %"], false=[], aside=[])
    never = Outcome(Setup("sound", "nothing"), findings=caught.findings, noise=["other processes use 50 %"])
    for outcome in (missed, mild, caught, quiet, noisy, never):
        weigh(outcome)
    assert [o.right for o in (missed, mild, caught, quiet, noisy, never)] == [False, False, True, False, True, False]
    assert [f.code for f in noisy.aside] == ["cpu-stolen"]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("faults")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TOUCHSTONE_CACHE", str(folder / "cache"))
        prepare(folder, [])
        yield folder


def outcome_of(name: str, home: Path) -> Outcome:
    return carry_out(next(s for s in SETUPS if s.id == name), home)


@pytest.mark.parametrize("name", QUICK_FAULTS)
def test_a_quick_part_of_the_faults_is_caught(name: str, home: Path) -> None:
    outcome = outcome_of(name, home)
    assert outcome.error is None
    assert outcome.missed == []


@pytest.mark.slow
@pytest.mark.parametrize("name", QUICK_SOUND)
def test_a_quick_part_of_the_sound_set_ups_is_left_alone(name: str, home: Path) -> None:
    outcome = outcome_of(name, home)
    assert outcome.error is None
    assert outcome.false == []
