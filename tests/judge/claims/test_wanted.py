"""Which runs measure what claims ask for."""

from __future__ import annotations

import pytest

from tests.judge.sound import sound_run
from touchstone.judge.claims.evidence import Evidence, Judged, Place
from touchstone.judge.claims.wanted import steps
from touchstone.judge.judge import judge
from touchstone.record.evidence.surroundings import MachineState
from touchstone.vocabulary.phase import PHASES


def place(figure: str, load: str | None = "lookup", contender: str = "go/std") -> Place:
    return Place("users", contender, load, figure)


def test_what_takes_long_is_a_step_of_its_own_under_each_load_where_it_has_one() -> None:
    wanted = [
        place("capacity"),
        place("capacity", "insert"),
        place("peak_served", None),
        place("throughput"),
        place("throughput", contender="rust/std"),
    ]
    assert [(step.name, step.phases, step.load, step.contenders) for step in steps(wanted, Evidence([]))] == [
        ("users lookup", ("load",), "lookup", ("go/std", "rust/std")),
        ("users insert capacity", ("capacity",), "insert", ("go/std",)),
        ("users lookup capacity", ("capacity",), "lookup", ("go/std",)),
        ("users peak", ("peak",), None, ("go/std",)),
    ]


def test_the_others_share_one_that_goes_first() -> None:
    wanted = [place("throughput"), place("boot_first_response", None), place("artifact_bytes", None)]
    assert [step.name for step in steps(wanted, Evidence([]))] == ["users boot+build", "users lookup"]


def test_a_phase_that_opens_a_report_is_quick_enough_for_the_shared_step() -> None:
    assert not [name for name, phase in PHASES.items() if phase.opens and phase.own_step]


@pytest.mark.parametrize(("other_cpu_s", "again"), [(None, False), (0.0, False), (12.0, True)])
def test_a_build_that_was_disturbed_is_made_anew(other_cpu_s: float | None, again: bool) -> None:
    run = sound_run()
    for sample in run.samples:
        if sample.phase == "build":
            seen = {"wall_s": 15.0, "other_cpu_s": other_cpu_s or 0.0, "steal_s": 0.0}
            sample.machine = MachineState.model_validate(seen)
    evidence = Evidence([] if other_cpu_s is None else [Judged(run, judge(run))])
    (step,) = steps([place("build_cold", None)], evidence)
    assert step.builds_again is again
