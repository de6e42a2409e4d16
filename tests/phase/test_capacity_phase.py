"""Which contenders are searched in turn, and what is said of those that cannot be."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.bench.test_at_once import contender
from touchstone.bench.at_once import port_conflict
from touchstone.manifest.contract import Act
from touchstone.manifest.outside import ExternalService
from touchstone.manifest.scenario import Capacity
from touchstone.phase.base import ReportNote
from touchstone.phase.capacity import phase as capacity_phase
from touchstone.phase.capacity.phase import CapacityPhase

from .test_peak import bench_of


def said(folder: Path, *ports: int | None, prepare: list[Act] | None = None) -> list[str]:
    """What the phase says of contenders that listen on these ports."""
    contenders = [contender(f"number{place}", port) for place, port in enumerate(ports)]
    bench = bench_of(folder)
    scenario = bench.scenario.model_copy(update={"capacity": Capacity(objective="p99 < 50ms")})
    loads = {name: load.model_copy(update={"prepare": prepare or []}) for name, load in scenario.loads.items()}
    bench = replace(bench, scenario=scenario, loads=loads, why_not_together=port_conflict(contenders))
    turns = CapacityPhase().plan(bench, contenders)
    return [turn.text for turn in turns if isinstance(turn, ReportNote)]


def test_contenders_that_share_a_port_are_searched_one_by_one_and_the_run_says_so(tmp_path: Path) -> None:
    (note,) = said(tmp_path, 8080, 8080)
    assert "number0/plain and number1/plain both listen on port 8080" in note
    assert "the capacity of each is searched by itself" in note
    assert "whole windows" not in note, "a search has none"


def test_contenders_that_are_searched_in_turn_need_no_words(tmp_path: Path) -> None:
    assert said(tmp_path, 8080, 8081) == []


def test_what_acts_on_what_all_share_before_a_load_is_a_reason(tmp_path: Path) -> None:
    acts = [Act.model_validate({"dependency": "broker", "act": "empty"})]
    (note,) = said(tmp_path / "two", None, None, prepare=acts)
    assert "acts on what the contenders share" in note
    assert said(tmp_path / "one", None, prepare=acts) == [], "one alone is compared with nobody"


@pytest.mark.parametrize(("stacks", "searched", "alone"), [(2, 2, False), (2, 1, True), (1, 1, False)])
def test_a_service_that_runs_already_does_not_keep_stacks_from_being_compared_at_one_rate(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stacks: int, searched: int, alone: bool
) -> None:
    found: list[bool] = []

    class Search:
        def __init__(self, *_: Any, alone: bool) -> None:
            found.append(alone)

        def measure(self) -> list[Any]:
            return []

    monkeypatch.setattr(capacity_phase, "LoadSearch", Search)
    monkeypatch.setattr(capacity_phase, "started_together", lambda *_, **__: nullcontext(([], [])))
    own = [contender(f"number{place}", None) for place in range(stacks)]
    running = replace(
        contender("staging", None), outside=ExternalService("staging", "http://127.0.0.1:1", "127.0.0.1", 1)
    )
    bench = bench_of(tmp_path)
    scenario = bench.scenario.model_copy(update={"capacity": Capacity(objective="p99 < 50ms")})
    bench = replace(bench, scenario=scenario, loads=scenario.loads, contenders=[*own, running])
    assert list(CapacityPhase().together(bench, own[:searched], 1)) == []
    assert found == [alone]
