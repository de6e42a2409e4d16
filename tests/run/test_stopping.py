"""`touchstone run --phase stop`: what a service does with its clients when it gets SIGTERM, by services that do it."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from tests.run.test_end_to_end import report_of

SERVICE = Path(__file__).parents[1] / "phase" / "stopping_service.py"
SCENARIO = """
schema = 1
name = "ends"
title = "Services that end"
summary = "Each answers hello, and ends in its own way"
ready = { target = "/", expect = { body = "hello" } }

[[contract]]
id = "hello"
says = "GET / answers hello"
steps = [{ target = "/", expect = { body = "hello" } }]

[loads.quick]
title = "Quick"
requests = [{ name = "quick", target = "/", expect = { body = "hello" } }]

[loads.slow]
title = "Slow"
profiles = []
requests = [{ name = "slow", target = "/slow", expect = { body = "hello" } }]

[loads.stream]
title = "Streams"
profiles = []
requests = [{ name = "stream", target = "/stream", stream = { kind = "sse", events = 1 } }]

[stop]
load = "quick"
slow_load = "slow"
stream_load = "stream"
within_s = 2
rolling = true
"""
STACK = """
schema = 1
name = "planted"
scenario = "ends"
title = "Planted"
language = "Python"
"""
VARIANT = """
[variants.{mode}]
title = "{mode}"
build = []
artifacts = ["service.py"]
run = ["{python}", "service.py", "{mode}"]
env = {{ STOP_LOG = "/dev/null", STOP_COLD_AT = "2" }}
"""


def planted_stack(folder: Path, scenario: str, variant: str, modes: Iterable[str]) -> Path:
    """The folder of a stack in the scenario `ends`, with a variant for each mode. The service's file is missing."""
    stack = folder / "ends" / "planted"
    stack.mkdir(parents=True)
    (stack.parent / "scenario.toml").write_text(scenario)
    variants = (variant.format(mode=mode, python=sys.executable) for mode in modes)
    (stack / "stack.toml").write_text(STACK + "".join(variants))
    return stack


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("stop")
    modes = ("graceful", "exits", "ignores", "waits", "sharing-graceful", "cold", "alone")
    shutil.copy(SERVICE, planted_stack(folder, SCENARIO, VARIANT, modes) / "service.py")
    code, found = report_of(folder, "./ends", "--phase", "stop", "--rounds", "1")
    assert code == 0
    return found


def codes_of(report: dict[str, Any], mode: str) -> set[tuple[str, str]]:
    """The findings about a planted service: code and case."""
    return {
        (f["code"], f["load"])
        for f in report["judgement"]["findings"]
        if f["contender"] == f"planted/{mode}" and f["load"]
    }


def figures_of(report: dict[str, Any], mode: str, case: str) -> dict[str, float]:
    """The figures of a planted service in one case."""
    samples = [s for s in report["run"]["samples"] if (s["contender"], s["load"]) == (f"planted/{mode}", case)]
    return samples[0]["figures"]  # type: ignore[no-any-return]


def test_a_sound_service_is_not_accused(report: dict[str, Any]) -> None:
    # The load generator may be late on a busy machine.
    assert {found for found, _ in codes_of(report, "graceful")} <= {"stop-client-late"}
    assert figures_of(report, "graceful", "slow")["stop_lost"] == 0


def test_each_behaviour_is_named(report: dict[str, Any]) -> None:
    assert ("requests-lost-at-stop", "slow") in codes_of(report, "exits")
    assert figures_of(report, "exits", "slow")["stop_lost"] == 8
    assert ("ignores-sigterm", "idle") in codes_of(report, "ignores")
    assert "stop_s" not in figures_of(report, "ignores", "idle")
    assert ("ignores-sigterm", "stuck") in codes_of(report, "waits")


def test_a_sound_service_is_replaced_without_a_loss(report: dict[str, Any]) -> None:
    for mode, case in (("graceful", "rolling"), ("sharing-graceful", "rolling-port")):
        figures = figures_of(report, mode, case)
        assert figures["stop_lost"] == 0 or case == "rolling-port"
        assert figures["stop_memory_both"] > 1_000_000
        assert "stop_gap" in figures


def test_only_a_listener_that_shares_its_port_is_replaced_there(report: dict[str, Any]) -> None:
    tried = {s["contender"] for s in report["run"]["samples"] if s["load"] == "rolling-port"}
    assert tried == {"planted/sharing-graceful"}


def test_a_cold_second_process_and_one_that_cannot_start_are_named(report: dict[str, Any]) -> None:
    assert ("gap-at-replacement", "rolling") in codes_of(report, "cold")
    assert ("second-process-fails", "rolling") in codes_of(report, "alone")
    assert ("second-process-fails", "rolling") not in codes_of(report, "cold")


def test_streams_that_are_cut_are_named_and_those_that_end_are_not(report: dict[str, Any]) -> None:
    assert ("streams-cut-at-stop", "streams") in codes_of(report, "exits")
    assert figures_of(report, "exits", "streams")["stop_streams_cut"] == 8
    assert figures_of(report, "graceful", "streams")["stop_streams_cut"] == 0
