"""Which runs measure what claims ask for."""

from __future__ import annotations

from touchstone.judge.claims.evidence import Measurand
from touchstone.judge.claims.wanted import steps
from touchstone.vocabulary.phase import PHASES


def place(figure: str, load: str | None = "lookup", contender: str = "go/std") -> Measurand:
    return Measurand("users", contender, load, figure)


def test_what_takes_long_is_a_step_of_its_own_under_each_load_where_it_has_one() -> None:
    wanted = [
        place("capacity"),
        place("capacity", "insert"),
        place("peak_served", None),
        place("throughput"),
        place("throughput", contender="rust/std"),
    ]
    assert [(step.name, step.phases, step.load, step.contenders) for step in steps(wanted)] == [
        ("users lookup", ("load",), "lookup", ("go/std", "rust/std")),
        ("users insert capacity", ("capacity",), "insert", ("go/std",)),
        ("users lookup capacity", ("capacity",), "lookup", ("go/std",)),
        ("users peak", ("peak",), None, ("go/std",)),
    ]


def test_the_others_share_one_that_goes_first() -> None:
    wanted = [place("throughput"), place("boot_first_response", None), place("artifact_bytes", None)]
    assert [step.name for step in steps(wanted)] == ["users boot+build", "users lookup"]


def test_a_phase_that_opens_a_report_is_quick_enough_for_the_shared_step() -> None:
    assert not [name for name, phase in PHASES.items() if phase.opens and phase.own_step]
