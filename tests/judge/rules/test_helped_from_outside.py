import random

import pytest

from touchstone.judge.reading.outside_helper import outside_helper_of
from touchstone.record.engine import Machine
from touchstone.record.evidence.slices import Slice
from touchstone.record.other_process import OtherProcess
from touchstone.record.run import Run

from ..slices import SLICE_S, sliced_run
from ..sound import codes, fired

RATES = {"go/std": 20_000.0, "rust/std": 26_000.0, "kotlin/jvm": 15_000.0}


def shared(used: dict[str, float], *, per_request: float = 0.0, elsewhere: float = 0.0, rounds: int = 5) -> Run:
    """A run in slices in which others used CPUs while a contender was on, and another process now and then."""
    run = sliced_run(RATES, rounds=rounds, laps=8)
    dice = random.Random(7)
    for sample in run.samples:
        if sample.phase == "load" and sample.slices is not None:
            for turn in sample.slices.slices:
                noise = max(0.0, dice.gauss(0.01, 0.02)) + elsewhere * dice.random()
                kernel = per_request * turn.completed / SLICE_S
                turn.other_cpu_s = SLICE_S * (used.get(sample.contender, 0.0) + noise + kernel)
    return run


def test_a_helper_that_works_when_one_contender_is_on() -> None:
    (finding,) = fired(shared({"go/std": 0.2}), "helped-from-outside")
    assert finding.contender == "go/std"
    assert finding.doubt is not None
    assert finding.doubt.slower is not None and finding.doubt.slower > 1


@pytest.mark.parametrize(("used", "expected"), [(0.08, 1), (0.03, 0)])
def test_five_percent_of_a_cpu_matter(used: float, expected: int) -> None:
    assert len(fired(shared({"rust/std": used}), "helped-from-outside")) == expected


def test_another_process_works_during_all_slices() -> None:
    assert "helped-from-outside" not in codes(shared({}, elsewhere=0.6))


def test_another_process_hides_no_helper() -> None:
    assert fired(shared({"go/std": 0.4}, elsewhere=0.4), "helped-from-outside")


def test_the_kernel_works_for_each_request_of_whoever_is_on() -> None:
    # The fastest contender has most of it, and the null server more.
    assert "helped-from-outside" not in codes(shared({}, per_request=5e-6))


def test_the_kernel_works_for_dependencies_too_which_the_null_server_has_not() -> None:
    same_for_all = dict.fromkeys(RATES, 0.3)
    assert "helped-from-outside" not in codes(shared(same_for_all))


@pytest.mark.parametrize(("taken", "expected"), [(1.0, 0), (0.5, 1)])
def test_other_processes_take_what_a_contender_leaves_over(taken: float, expected: int) -> None:
    # It leaves 1.2 of two CPUs, its neighbours 0.2 at the most: only where none is left can others have filled it up.
    run = shared({"go/std": taken})
    for sample in run.samples:
        for turn in sample.slices.slices if sample.slices else []:
            turn.engine_cpu_s = (0.2 if sample.contender == "go/std" else 1.2) * SLICE_S
            turn.server_cpu_s = 0.6 * SLICE_S
    assert len(fired(run, "helped-from-outside")) == expected


@pytest.mark.parametrize(("usual", "expected"), [(0.4, 0), (0.1, 1)])
def test_a_process_that_works_whoever_is_on_gets_more_of_a_cpu_from_one(usual: float, expected: int) -> None:
    run = shared({"go/std": 0.6, **dict.fromkeys(("rust/std", "kotlin/jvm", "tare"), usual)})
    for sample in run.samples:
        for turn in sample.slices.slices if sample.slices else []:
            used = 0.6 if sample.contender == "go/std" else usual
            turn.other_processes = [OtherProcess(pid=5, name="backup", cpu_s=used * SLICE_S)]
    assert len(fired(run, "helped-from-outside")) == expected


def test_a_few_laps_are_chance() -> None:
    run = shared({"go/std": 0.2}, rounds=1)
    assert "helped-from-outside" not in codes(run)


def test_an_unwatched_contender_cannot_be_distinguished_from_other_processes() -> None:
    run = shared({"go/std": 0.2})
    for sample in run.samples:
        for turn in sample.slices.slices if sample.slices and sample.contender == "go/std" else []:
            turn.server_cpu_s = None
    assert "helped-from-outside" not in codes(run)


def test_children_that_only_the_cgroup_has_counted_are_its_own() -> None:
    run = shared({"go/std": 0.2})
    own = [s for s in run.samples if s.phase == "load" and s.contender == "go/std"]
    for sample in own:
        assert sample.result and sample.result.watch
        window = sample.result.watch.window
        window.cgroup_cpu_s = (window.cpu_s or 0.0) + 0.2 * 8 * SLICE_S
    found = outside_helper_of(own, run)
    assert found is not None
    assert found.cpus < 0.05
    assert "helped-from-outside" not in codes(run)


def test_the_helper_is_named_and_a_process_that_works_for_all_is_not() -> None:
    run = shared({"go/std": 0.2})
    for sample in run.samples:
        for turn in sample.slices.slices if sample.slices else []:
            busy = OtherProcess(pid=5, name="backup", cpu_s=0.3 * SLICE_S)
            helper = OtherProcess(pid=7, name="sidecar", cpu_s=0.2 * SLICE_S)
            turn.other_processes = [busy, helper] if sample.contender == "go/std" else [busy]
    (finding,) = fired(run, "helped-from-outside")
    assert finding.statement.startswith("sidecar, a process outside the contender's tree, used ")


def filled(by_contender: dict[str, dict[str, float]]) -> Run:
    """A run on two CPUs of which none is ever idle: processes by contender and name, in CPUs."""
    run = shared({})
    for sample in run.samples:
        for turn in sample.slices.slices if sample.slices else []:
            used = by_contender.get(sample.contender, by_contender["*"])
            turn.other_processes = [
                OtherProcess(pid=number, name=name, cpu_s=cpus * SLICE_S)
                for number, (name, cpus) in enumerate(used.items())
            ]
            turn.other_cpu_s = sum(used.values()) * SLICE_S
            turn.server_cpu_s = 0.5 * SLICE_S
            turn.engine_cpu_s = (1.5 - sum(used.values())) * SLICE_S
    return run


def test_a_helper_next_to_a_process_that_takes_all_that_is_left() -> None:
    run = filled({"*": {"cc1": 0.5}, "go/std": {"cc1": 0.3, "sidecar": 0.2}})
    (finding,) = fired(run, "helped-from-outside")
    assert finding.contender == "go/std"
    assert finding.statement.startswith("sidecar, a process outside the contender's tree, used ")


def test_a_helper_that_uses_less_than_each_of_its_many_neighbours() -> None:
    busy = {f"rustc-{number}": 0.04 for number in range(10)}
    run = filled({"*": busy, "go/std": {**dict.fromkeys(busy, 0.034), "sidecar": 0.06}})
    (finding,) = fired(run, "helped-from-outside")
    assert finding.statement.startswith("sidecar, a process outside the contender's tree, used ")


def test_records_that_call_other_processes_strangers_are_read() -> None:
    listed = [{"pid": 5, "name": "backup", "cpu_s": 0.1}]
    turn = Slice.model_validate(
        {"index": 0, "lap_phase": "load", "begin": 0, "sending_end": 1, "end": 1, "strangers": listed}
    )
    machine = Machine.model_validate({"strangers": listed})
    assert turn.other_processes == machine.other_processes == [OtherProcess(pid=5, name="backup", cpu_s=0.1)]
    assert machine.model_dump()["other_processes"] == listed


def test_a_helper_whose_name_others_have_as_well() -> None:
    run = filled({"*": {"python": 0.5}, "go/std": {"python": 0.3, "python3": 0.2}})
    for sample in run.samples:
        for turn in sample.slices.slices if sample.slices else []:
            for process in turn.other_processes:
                process.name = "python"
    (finding,) = fired(run, "helped-from-outside")
    assert finding.contender == "go/std"
    assert finding.evidence["cpus"] == pytest.approx(0.2)


def test_a_process_that_takes_what_one_contender_leaves_is_no_helper() -> None:
    assert not fired(filled({"*": {"cc1": 0.02}, "go/std": {"cc1": 0.6}}), "helped-from-outside")


@pytest.mark.parametrize(("at_rest", "expected"), [(0.05, 1), (0.12, 0)])
def test_a_helper_that_also_looks_for_work_while_others_are_on(at_rest: float, expected: int) -> None:
    run = filled({"*": {"cc1": 0.5, "sidecar": at_rest}, "go/std": {"cc1": 0.3 + at_rest, "sidecar": 0.2}})
    assert len(fired(run, "helped-from-outside")) == expected


@pytest.mark.parametrize(("helper", "expected"), [(0.04, 1), (0.009, 0)])
def test_a_helper_of_a_contender_that_gets_little_of_a_crowded_machine(helper: float, expected: int) -> None:
    run = filled({"*": {"rustc": 0.85}, "go/std": {"rustc": 0.85 - helper, "sidecar": helper}})
    for sample in run.samples:
        for turn in sample.slices.slices if sample.slices else []:
            turn.server_cpu_s, turn.engine_cpu_s = 0.2 * SLICE_S, 0.05 * SLICE_S
    assert len(fired(run, "helped-from-outside")) == expected


def test_a_process_on_the_engines_cpu_has_more_of_it_from_a_slow_contender() -> None:
    run = filled({"*": {"cc1": 0.4, "cc2": 0.4}, "go/std": {"cc1": 0.05, "cc2": 0.85}})
    for sample in run.samples:
        for turn in sample.slices.slices if sample.slices else []:
            server, engine = (0.95, 0.15) if sample.contender == "go/std" else (0.6, 0.6)
            turn.server_cpu_s, turn.engine_cpu_s = server * SLICE_S, engine * SLICE_S
    assert not fired(run, "helped-from-outside")


def test_a_process_that_works_for_a_neighbour_that_leaves_as_much_is_no_helper() -> None:
    run = filled({"*": {"cc1": 0.1}, "go/std": {"cc1": 0.5}, "tare": {"cc1": 0.5}})
    assert not fired(run, "helped-from-outside")
