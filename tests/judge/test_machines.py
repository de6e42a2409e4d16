"""Two runs of different machines: a faster machine is not a faster service."""

from __future__ import annotations

import pytest

from touchstone.judge.comparison.across import ComparisonTerms
from touchstone.judge.comparison.machines import AcrossMachines, across_machines, common_reference
from touchstone.judge.figures import is_exact
from touchstone.judge.judgement import Comparison, Outcome
from touchstone.record.run import Run

from .sound import sound_run

TERMS = ComparisonTerms(margin=0.05, confidence=0.95)


def measured(ratio: float, *, machine: float = 1.0, seed: int = 3, rounds: int = 9) -> Run:
    rate = 20_000.0 * machine
    contenders = {"go/std": rate, "rust/std": rate * ratio}
    return sound_run(contenders=contenders, rounds=rounds, noise=0.01, seed=seed)


def compared(before: Run, after: Run) -> tuple[AcrossMachines, Comparison]:
    found = across_machines(before, after, TERMS, "go/std")
    (change,) = [c for c in found.changes if (c.contender, c.figure) == ("rust/std", "throughput")]
    return found, change


def test_a_faster_machine_changes_no_ratio() -> None:
    found, change = compared(measured(1.2), measured(1.2, machine=1.8, seed=5))
    assert change.outcome is Outcome.EQUIVALENT
    assert [change.before, change.after] == pytest.approx([1.2, 1.2], rel=0.02)
    assert not [c for c in found.changes if c.relative_to is None and not is_exact(c.figure)]
    assert ("go/std", "it is the reference itself") in [(o.contender, o.reason.split("; ")[-1]) for o in found.left_out]


@pytest.mark.parametrize(("ratio", "worse"), [(0.9, True), (1.5, False)])
def test_a_change_of_the_service_is_seen_through_the_machine(ratio: float, worse: bool) -> None:
    _, change = compared(measured(1.2), measured(ratio, machine=0.5, seed=5))
    assert change.worse is worse
    assert change.outcome is (Outcome.WORSE if worse else Outcome.BETTER)
    assert change.low is not None and change.high is not None
    assert change.low < ratio / 1.2 < change.high


def test_one_round_decides_nothing() -> None:
    _, change = compared(measured(1.2, rounds=1), measured(0.9, rounds=1, seed=5))
    assert (change.outcome, change.harmless) == (Outcome.UNDECIDED, False)


def test_without_a_common_reference_only_what_is_exact_is_compared() -> None:
    before, after = measured(1.0), sound_run(contenders={"zig/std": 20_000.0}, rounds=5)
    assert common_reference(before, after, None) is None
    assert common_reference(before, measured(1.1), "rust") == "rust/std"
    found = across_machines(before, measured(1.1), TERMS, None)
    assert all(is_exact(change.figure) for change in found.changes)
    assert {one.contender for one in found.left_out} == {"go/std", "rust/std"}
