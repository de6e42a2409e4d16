"""`touchstone run --phase disturb`: what a failing downstream costs, by services that treat it in known ways."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.run.test_end_to_end import report_of

SERVICE = Path(__file__).parents[1] / "phase" / "disturbed_service.py"
SCENARIO = """
schema = 1
name = "calls"
title = "Services that call"
summary = "One route calls a downstream, the other does not"
ready = { target = "/ping", expect = { body = "pong" } }

[dependencies.downstream]
kind = "echo"
env = "DOWNSTREAM_URL"
settings = { delay_ms = 1 }

[[contract]]
id = "both"
says = "both routes answer"
steps = [{ target = "/call", expect = { body = "done" } }, { target = "/ping", expect = { body = "pong" } }]
"""
LOAD = """
[loads.{name}]
title = "{name}"
loop = "open"
rate = 100
seconds = {seconds}
requests = [
  {{ name = "call", target = "/call", expect = {{ body = "done" }} }},
  {{ name = "ping", target = "/ping", expect = {{ body = "pong" }} }},
]
proofs = [
  {{ says = "each call came", dependency = "downstream", query = "hits:/echo", equals = "ok", requests = ["call"] }},
]
disturb = [{faults}]
"""
STACK = """
schema = 1
name = "planted"
scenario = "calls"
title = "Planted"
language = "Python"
"""
VARIANT = """
[variants.{mode}]
title = "{mode}"
build = []
artifacts = ["service.py"]
run = ["{python}", "service.py", "{mode}"]
"""


def fault(at_s: float, act: str, more: str = "") -> str:
    return f'{{ at_s = {at_s}, for_s = 0.8, dependency = "downstream", act = "{act}"{more} }}'


def disturbed(folder: Path, seconds: float, faults: list[str], modes: list[str]) -> dict[str, Any]:
    """The report of a run whose one load has these faults."""
    (folder / "calls" / "planted").mkdir(parents=True)
    load = LOAD.format(name="faults", seconds=seconds, faults=", ".join(faults))
    (folder / "calls" / "scenario.toml").write_text(SCENARIO + load)
    variants = (VARIANT.format(mode=mode, python=sys.executable) for mode in modes)
    (folder / "calls" / "planted" / "stack.toml").write_text(STACK + "".join(variants))
    shutil.copy(SERVICE, folder / "calls" / "planted" / "service.py")
    code, found = report_of(folder, "./calls", "--phase", "disturb", "--rounds", "1")
    assert code == 0
    return found


def codes_of(report: dict[str, Any], mode: str) -> set[str]:
    """The findings about a planted service under the load; not that the machine was too busy for a fault in time."""
    findings = report["judgement"]["findings"]
    own = {f["code"] for f in findings if f["contender"] == f"planted/{mode}" and f["load"] == "faults"}
    return own - {"fault-not-in-time"}


def evidence_of(report: dict[str, Any], mode: str) -> dict[str, Any]:
    samples = report["run"]["samples"]
    (found,) = (s for s in samples if s["phase"] == "disturb" and s["contender"] == f"planted/{mode}")
    return dict(found)


@pytest.fixture(scope="module")
def stalled(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    modes = ["sound", "slots", "waits", "retries", "leaks", "falls", "starves", "dies"]
    return disturbed(tmp_path_factory.mktemp("stall"), 4.5, [fault(1.5, "stall")], modes)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mode", "codes"),
    [
        ("sound", set()),
        ("slots", set()),
        ("waits", {"no-timeout"}),
        ("leaks", {"pool-never-heals"}),
        ("falls", {"falls-with-dependency"}),
        ("starves", {"falls-with-dependency"}),
        ("dies", {"dies-with-dependency"}),
        ("retries", {"retries-amplify", "work-wrong-after-fault"}),
    ],
)
def test_each_service_is_named_right_when_its_dependency_stalls(
    stalled: dict[str, Any], mode: str, codes: set[str]
) -> None:
    assert codes_of(stalled, mode) == codes


@pytest.fixture(scope="module")
def failing(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Every fault but the stall, one after the other in one load."""
    acts = ["error", "refuse", "reset", "slow", "slow-drip", "full"]
    faults = [fault(1.0 + 2.0 * number, act) for number, act in enumerate(acts)]
    return disturbed(tmp_path_factory.mktemp("faults"), 14.5, faults, ["sound", "budget", "retries", "stale"])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mode", "codes"),
    [("sound", set()), ("budget", set()), ("retries", {"retries-amplify"}), ("stale", {"pool-never-heals"})],
)
def test_each_service_is_named_right_under_every_fault(failing: dict[str, Any], mode: str, codes: set[str]) -> None:
    assert codes_of(failing, mode) - {"work-wrong-after-fault"} == codes


@pytest.mark.slow
def test_every_fault_is_felt_by_the_requests_that_need_the_dependency_alone(failing: dict[str, Any]) -> None:
    evidence = evidence_of(failing, "sound")["evidence"]
    assert evidence["needs"] == {"call": ["downstream"], "ping": []}
    shares = {one["act"]: one["needing"]["errors"] / one["needing"]["sent"] for one in evidence["faults"]}
    assert min(shares["error"], shares["refuse"]) > 0.5
    assert 0 < shares["slow-drip"] <= 1.0
    assert shares["slow"] == 0.0
    (slow,) = (one for one in evidence["faults"] if one["act"] == "slow")
    assert slow["needing"]["p90"] >= 0.1
    assert not any(one["others"]["errors"] for one in evidence["faults"])
    assert all(one["recovery_s"] is not None for one in evidence["faults"])
