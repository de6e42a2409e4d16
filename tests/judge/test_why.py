"""The parts of a difference add up to it, and only what is certain is called different."""

from __future__ import annotations

import pytest

from touchstone.judge.why.breakdown import break_down_cpu
from touchstone.judge.why.explain import explain
from touchstone.judge.why.explanation import CpuBreakdown, CpuExplanation, Unexplained
from touchstone.judge.why.tree import tree
from touchstone.judge.why.waits import KINDS, kind_of
from touchstone.record.evidence.profile import ProfileEvidence, RequestCounts, Waits

from .profiles import BASE, HANDLER, SPIN, US, Stacks, evidence, profile_run

JITTER = [0.98, 1.01, 1.0, 1.02, 0.99]


def noisy(stacks: Stacks, *, turn: int = 0) -> list[tuple[list[str], float]]:
    """Rounds in which every stack wavers by its own percent or two."""
    return [(frames, us * JITTER[(turn + place) % len(JITTER)]) for place, (frames, us) in enumerate(stacks)]


def explained(a: Stacks, b: Stacks, rounds: int = 5) -> CpuExplanation:
    run = profile_run(
        {
            "go/std": [evidence(noisy(a, turn=n), calls={"read": 1.0, "write": 1.0}) for n in range(rounds)],
            "go/slow": [evidence(noisy(b, turn=n + 2), calls={"read": 1.0, "stat": 2.0}) for n in range(rounds)],
        }
    )
    found = explain(run, "go/std", "go/slow", "lookup", 0.95)
    assert isinstance(found, CpuExplanation)
    return found


def test_the_parts_and_the_rest_add_up_to_the_difference() -> None:
    found = explained(BASE, [*BASE, (SPIN, 4.0)])
    total = sum(part.difference for part in found.parts) + found.rest.difference
    assert total == pytest.approx(found.total.difference, abs=1e-9)
    assert sum(part.baseline for part in found.parts) + found.rest.baseline == pytest.approx(found.total.baseline)


def test_what_was_added_is_named_first_with_its_microseconds() -> None:
    found = explained(BASE, [*BASE, (SPIN, 4.0)])
    first = found.functions[0]
    assert (first.name, first.category, first.sure) == ("main.spin", "application", True)
    assert first.difference == pytest.approx(4 * US, rel=0.05)
    certain = [part.name for part in found.parts if part.sure]
    assert certain == ["application"]


def test_what_works_on_behalf_of_a_function_counts_to_it() -> None:
    allocates = [*HANDLER, "main.buffer", "runtime.mallocgc", "runtime.memclrNoHeapPointers"]
    found = explained(BASE, [*BASE, (allocates, 3.0)])
    assert found.functions[0].name == "main.buffer"
    assert found.functions[0].category == "allocator"
    assert [part.name for part in found.parts if part.sure] == ["allocator"]


def test_equal_programs_have_no_certain_part() -> None:
    found = explained(BASE, BASE)
    assert not [part for part in found.parts if part.sure]
    assert not [part for part in found.functions if part.sure]


def test_one_round_gives_no_interval_and_so_no_certainty() -> None:
    found = explained(BASE, [*BASE, (SPIN, 4.0)], rounds=1)
    assert found.total.low is None
    assert not [part for part in found.parts if part.sure]
    assert found.functions[0].name == "main.spin"


def test_system_calls_are_compared_by_name() -> None:
    calls = {call.name: (call.baseline, call.contender) for call in explained(BASE, BASE).calls}
    assert calls == {"stat": (0.0, 2.0), "write": (1.0, 0.0), "read": (1.0, 1.0)}


@pytest.mark.parametrize(("kind", "pattern", "example"), KINDS)
def test_each_kind_of_waiting_is_the_first_to_find_its_example(kind: str, pattern: str, example: str) -> None:
    assert kind_of(example) == kind, pattern


def test_waiting_is_told_in_threads_on_average() -> None:
    def waiting(**asleep: int) -> list[ProfileEvidence]:
        looked = Waits(seconds=2.0, looks=100, running=50, asleep=asleep, run_delay_s=0.1)
        return [evidence(BASE).model_copy(update={"waits": looked})] * 3

    calm, busy = waiting(ep_poll=100), waiting(ep_poll=100, futex_wait_queue=900, jbd2_log_wait_commit=50)
    found = explain(profile_run({"go/std": calm, "go/slow": busy}), "go/std", "go/slow", "lookup", 0.95)
    assert isinstance(found, CpuExplanation)
    assert [(wait.name, round(wait.baseline, 6), round(wait.contender, 6)) for wait in found.waits] == [
        ("for another thread", 0.0, 9.0),
        ("for a disk", 0.0, 0.5),
        ("for a CPU", 0.05, 0.05),
        ("for a connection to be ready", 1.0, 1.0),
    ]


def test_where_the_kernel_tells_nothing_the_reason_stands_in_the_place_of_waits() -> None:
    refused = evidence(BASE).model_copy(update={"no_waits": "the kernel does not tell; run as root"})
    found = explain(profile_run({"go/std": [refused], "go/slow": [refused]}), "go/std", "go/slow", "lookup", 0.95)
    assert isinstance(found, CpuExplanation)
    assert (found.waits, found.no_waits) == ([], "the kernel does not tell; run as root")


def test_what_was_counted_of_both_is_set_side_by_side() -> None:
    many = RequestCounts(requests=600, rate=200.0, counts={"user": 600 * 7_580})
    both = {
        "go/std": [evidence(BASE).model_copy(update={"instructions": many})] * 3,
        "go/slow": [evidence(BASE)] * 3,
    }
    found = explain(profile_run(both), "go/std", "go/slow", "lookup", 0.95)
    assert isinstance(found, CpuExplanation)
    assert [(one.name, one.baseline, one.contender) for one in found.counted] == [
        ("Voluntary context switches", 1.0, 1.0)
    ], "instructions were counted of one alone"
    both["go/slow"] = [evidence(BASE).model_copy(update={"instructions": many})] * 3
    found = explain(profile_run(both), "go/std", "go/slow", "lookup", 0.95)
    assert isinstance(found, CpuExplanation)
    assert ("User instructions", 7_580.0) in [(one.name, one.contender) for one in found.counted]


def test_a_contender_without_a_profile_says_why() -> None:
    refused = evidence(BASE).model_copy(update={"stacks": None, "not_profiled": "perf may not sample"})
    run = profile_run({"go/std": [evidence(BASE)], "go/slow": [refused]})
    found = explain(run, "go/std", "go/slow", "lookup", 0.95)
    assert isinstance(found, Unexplained)
    assert "perf may not sample" in found.reason


def test_a_tree_holds_both_and_each_node_what_is_below_it() -> None:
    run = profile_run({"go/std": [evidence(BASE)], "go/slow": [evidence([*BASE, (SPIN, 4.0)])]})
    root = tree(run, "go/std", "go/slow", "lookup")
    assert root.baseline == pytest.approx(22 * US)
    assert root.contender == pytest.approx(26 * US)
    handler = root.children["app"].children["runtime.goexit.abi0"].children["net/http.(*conn).serve"]
    spin = handler.children["main.handler"].children["main.spin"]
    assert spin.baseline == 0.0
    assert spin.contender == pytest.approx(4 * US)


def test_one_contender_alone_is_taken_apart_without_a_baseline() -> None:
    run = profile_run({"go/std": [evidence(noisy(BASE, turn=n), calls={"read": 1.0, "stat": 3.0}) for n in range(5)]})
    found = break_down_cpu(run, "go/std", "lookup", 0.95)
    assert isinstance(found, CpuBreakdown)
    assert sum(part.seconds for part in found.parts) + found.rest.seconds == pytest.approx(found.total.seconds)
    assert [part.seconds for part in found.parts] == sorted((part.seconds for part in found.parts), reverse=True)
    assert all(part.low is not None and part.low <= part.seconds <= (part.high or 0.0) for part in found.parts)
    assert [(call.name, call.each) for call in found.calls] == [("stat", 3.0), ("read", 1.0)]


def test_one_contender_without_a_profile_says_why() -> None:
    found = break_down_cpu(profile_run({"go/std": []}), "go/std", "lookup", 0.95)
    assert isinstance(found, Unexplained)
    assert "was not profiled" in found.reason
