from collections.abc import Callable

import pytest

from touchstone.judge.judge import judge
from touchstone.judge.judgement import Severity
from touchstone.record.run import Run
from touchstone.record.sample import TARE

from ..slices import CPU_PER_REQUEST, SLICE_S, sliced_run
from ..sound import codes, fired

RATES = {"go/plain": 10_000.0, "rust/plain": 10_000.0}
OWN_S = CPU_PER_REQUEST * 10_000 * SLICE_S
"""CPU of a contender in a slice of its own."""


def resting(used: Callable[[str], float]) -> Run:
    """A run in slices in which each contender used a share of its own CPU while the neighbour and the tare were on."""
    run = sliced_run(RATES, noise=0.0)
    names = list(RATES)
    for sample in run.samples:
        if sample.slices is None or sample.phase != "load":
            continue
        sample.slices.order = [*names, TARE]
        for one in sample.slices.slices:
            others = [None if name == sample.contender else OWN_S * used(name) / 2 for name in names]
            one.others_cpu_s = [*others, None]
    return run


@pytest.mark.parametrize(("share", "severity"), [(0.045, Severity.NOTE), (0.055, Severity.SUSPECT)])
def test_a_contender_that_puts_work_off_is_named_with_what_it_may_have_hidden(share: float, severity: Severity) -> None:
    run = resting(lambda name: share if name == "rust/plain" else 0.0)
    found = fired(run, "works-while-off")
    assert {f.contender for f in found} == {"rust/plain"}
    assert found[0].severity is severity
    assert found[0].doubt is not None and found[0].doubt.slower == pytest.approx(1 + share)


def test_its_neighbour_lost_that_cpu() -> None:
    # Each slice of 250 ms has one CPU; a fifth of half of 75 ms is 3 % of it.
    found = fired(resting(lambda name: 0.2 if name == "rust/plain" else 0.0), "neighbour-works")
    assert {f.contender for f in found} == {"go/plain"}
    assert "rust/plain the most" in found[0].statement


def test_timers_of_idle_runtimes_are_silent() -> None:
    assert not codes(resting(lambda _name: 0.015)) & {"works-while-off", "neighbour-works"}


def test_the_one_that_works_while_off_is_not_called_faster() -> None:
    run = resting(lambda name: 0.5 if name == "rust/plain" else 0.0)
    (found,) = (c for c in judge(run).comparisons if c.figure == "throughput")
    assert found.low is not None and found.low < 0.75
