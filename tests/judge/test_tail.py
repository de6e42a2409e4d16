"""Slow requests are divided into parts that add up, and a planted cause is named. A sound service has none."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import pytest

from tests.judge.tails import LOOK, SLOW, busy, during, in_place, paused, tail_run, window
from touchstone.judge.why.explanation import Unexplained
from touchstone.judge.why.tail.bands import bands
from touchstone.judge.why.tail.explain import causes, explain_latency
from touchstone.judge.why.tail.explanation import LatencyExplanation, PartOfLatency
from touchstone.record.evidence.tail import DependencyWait, RuntimePause, TailEvidence
from touchstone.record.tail import FIRST_DEPENDENCY, GENERATOR, Stamps

Change = Callable[[TailEvidence, list[Stamps]], None]


def throttled(evidence: TailEvidence, slow: list[Stamps]) -> None:
    evidence.tail.timeline.throttled = during(slow)


def outside(evidence: TailEvidence, slow: list[Stamps]) -> None:
    evidence.addresses = ["postgres"]
    evidence.tail.timeline.exchanges = [(b, e, 0, 99) for b, e in during(slow)]


def outside_and_watched(evidence: TailEvidence, slow: list[Stamps]) -> None:
    outside(evidence, slow)
    evidence.dependencies = ["postgres"]
    for look in evidence.tail.timeline.looks:
        look.append(0)


def outside_on_disk(evidence: TailEvidence, slow: list[Stamps]) -> None:
    outside_and_watched(evidence, slow)
    evidence.tail.timeline.places = ["jbd2_log_wait_commit"]
    evidence.tail.timeline.sleeps = [(b, e, FIRST_DEPENDENCY, 0) for b, e in during(slow)]


def outside_displaced(evidence: TailEvidence, slow: list[Stamps]) -> None:
    outside_and_watched(evidence, slow)
    evidence.tail.timeline.cpu_waits = [(b, e, FIRST_DEPENDENCY) for b, e in during(slow)]


def outside_busy(evidence: TailEvidence, slow: list[Stamps]) -> None:
    outside(evidence, slow)
    evidence.dependencies = ["postgres"]
    used = 0
    for look in evidence.tail.timeline.looks:
        used += LOOK if any(one.sent < look[0] <= one.last for one in slow) else 0
        look.append(used)


def outside_locked(evidence: TailEvidence, slow: list[Stamps]) -> None:
    outside_and_watched(evidence, slow)
    evidence.waits = [
        DependencyWait(at=(b + e) // 2, dependency="postgres", port=99, state="Lock transactionid")
        for b, e in during(slow)[::2]
    ]
    evidence.waits += [
        DependencyWait(at=(b + e) // 2, dependency="postgres", port=98, state="IO WALSync") for b, e in during(slow)
    ]


def faulted(evidence: TailEvidence, slow: list[Stamps]) -> None:
    on_disk(evidence, slow)
    evidence.tail.timeline.places = ["folio_wait_bit_common in a page fault"]


def displaced(evidence: TailEvidence, slow: list[Stamps]) -> None:
    evidence.tail.timeline.cpu_waits = [(b, e, 0) for b, e in during(slow)]


def on_disk(evidence: TailEvidence, slow: list[Stamps]) -> None:
    evidence.tail.timeline.places = ["jbd2_log_wait_commit"]
    evidence.tail.timeline.sleeps = [(b, e, 0, 0) for b, e in during(slow)]


def reclaimed(evidence: TailEvidence, slow: list[Stamps]) -> None:
    on_disk(evidence, slow)
    evidence.tail.timeline.places = ["shrink_lruvec"]


def compiled(evidence: TailEvidence, slow: list[Stamps]) -> None:
    busy(evidence, slow)
    evidence.tail.timeline.kinds = ["C2 CompilerThre"]
    looks = evidence.tail.timeline.looks
    evidence.tail.timeline.runs = [(b[0], 0, b[1] - a[1]) for a, b in itertools.pairwise(looks)]


def collected(evidence: TailEvidence, slow: list[Stamps]) -> None:
    busy(evidence, slow)
    evidence.pauses = [RuntimePause(begin=b, end=e, stops=False, name="collection") for b, e in during(slow)]


def generator_late(evidence: TailEvidence, slow: list[Stamps]) -> None:
    evidence.tail.timeline.sockets = []
    evidence.tail.timeline.cpu_waits = [(b, e, 1) for b, e in during(slow)]


def queued(evidence: TailEvidence, slow: list[Stamps]) -> None:
    for one in [*evidence.tail.slowest, *evidence.tail.sampled]:
        if one.latency == SLOW:
            one.sent = one.last - 1000


def opened(evidence: TailEvidence, slow: list[Stamps]) -> None:
    queued(evidence, slow)
    for one in [*evidence.tail.slowest, *evidence.tail.sampled]:
        one.opening = one.sent - one.due


def held_back(evidence: TailEvidence, slow: list[Stamps]) -> None:
    in_place("unacknowledged")(evidence, slow)
    for one in [*evidence.tail.slowest, *evidence.tail.sampled]:
        one.first = one.due + 1000


CAUSES: dict[str, tuple[Change, str]] = {
    "lock": (in_place("read"), "lock, pool or timer"),
    "pool": (in_place("unread"), "in the server's socket, unread"),
    "accept queue": (in_place("unaccepted"), "opening the connection, accept queue"),
    "handshake": (in_place("absent"), "opening the connection, accept queue"),
    "read late": (in_place("unacknowledged"), "load generator late"),
    "acknowledgement": (held_back, "response held until an acknowledgement"),
    "quota": (throttled, "stopped by the CPU quota"),
    "pause": (paused, "runtime pause"),
    "dependency": (outside, "dependency postgres"),
    "dependency asleep": (outside_and_watched, "dependency postgres: lock, queue or timer"),
    "dependency's disk": (outside_on_disk, "dependency postgres: disk or file"),
    "dependency displaced": (outside_displaced, "dependency postgres: waiting for a CPU"),
    "dependency's CPU": (outside_busy, "dependency postgres: its own CPU"),
    "dependency's lock": (outside_locked, "dependency postgres: Lock transactionid"),
    "page fault": (faulted, "page faults and memory reclaim"),
    "neighbour": (displaced, "CPU taken by other processes"),
    "own CPU": (busy, "server's own CPU"),
    "compiler": (compiled, "collector and compiler on the CPU"),
    "marking": (collected, "collector and compiler on the CPU"),
    "disk": (on_disk, "disk or file"),
    "reclaim": (reclaimed, "page faults and memory reclaim"),
    "generator": (generator_late, "load generator late"),
    "connection": (queued, "waiting for a free connection"),
    "opening": (opened, "opening the connection, accept queue"),
}


def explained(*windows: TailEvidence, baseline: TailEvidence | None = None) -> LatencyExplanation:
    run = tail_run({"a/b": list(windows)} | ({"c/d": [baseline] * len(windows)} if baseline else {}))
    found = explain_latency(run, "c/d" if baseline else None, "a/b", "lookup", 0.95)
    assert isinstance(found, LatencyExplanation)
    return found


@pytest.mark.parametrize("name", CAUSES)
def test_the_cause_is_named_with_its_size(name: str) -> None:
    change, part = CAUSES[name]
    found = explained(*[window(change)] * 3)
    assert found.main == [part]
    assert found.parts[0].seconds == pytest.approx(found.total.seconds, rel=0.25)
    assert found.total.seconds == pytest.approx(0.014)


@pytest.mark.parametrize("name", CAUSES)
def test_the_parts_of_every_band_add_up_to_its_latency(name: str) -> None:
    for band in explained(window(CAUSES[name][0])).contender.bands:
        assert sum(part.seconds for part in band.parts) == pytest.approx(band.total.seconds, abs=1e-9)


def test_contender_against_contender_the_difference_of_p99_is_explained() -> None:
    sound = window(lambda evidence, _: _all_fast(evidence))
    found = explained(*[window(paused)] * 3, baseline=sound)
    assert found.main == ["runtime pause"]
    assert found.explained == pytest.approx(1.0, abs=0.1)
    assert "Explained" in found.verdict


def test_nothing_is_named_of_a_sound_service() -> None:
    sound = window(lambda evidence, _: _all_fast(evidence))
    found = explained(*[sound] * 3)
    assert found.main == []
    assert "no difference" in found.verdict
    assert explained(*[window(paused)] * 3, baseline=window(paused)).main == []


def test_without_evidence_it_is_unexplained_and_says_what_would_help() -> None:
    found = explained(*[window(lambda evidence, _: _blind(evidence))] * 3)
    assert found.main == []
    assert found.verdict.startswith("Unexplained")
    assert "cgroup" in found.verdict


def test_a_part_below_the_threshold_explains_nothing() -> None:
    def half(evidence: TailEvidence, slow: list[Stamps]) -> None:
        _blind(evidence)
        evidence.tail.timeline.throttled = during(slow, 0.5)

    assert explained(*[window(half)] * 3).verdict.startswith("Unexplained")


def test_a_dependency_is_named_as_a_whole_where_no_single_part_of_it_is_large() -> None:
    def divided(evidence: TailEvidence, slow: list[Stamps]) -> None:
        outside_locked(evidence, slow)
        evidence.waits = [
            DependencyWait(at=b + 1 + number, dependency="postgres", port=99, state=f"IO {number}")
            for b, _ in during(slow)
            for number in range(8)
        ]

    assert explained(*[window(divided)] * 3).main == ["dependency postgres"]


def _part(name: str, seconds: float, within: float) -> PartOfLatency:
    return PartOfLatency(name=name, seconds=seconds, low=seconds - within, high=seconds + within)


def test_a_dependency_as_a_whole_is_a_cause_only_if_that_is_certain() -> None:
    parts = [_part(f"dependency db: {state}", 0.001, 0.0002) for state in "abcdefgh"]
    assert causes(parts, [_part("dependency db", 0.008, 0.001)], 0.01) == ["dependency db"]
    assert causes(parts, [_part("dependency db", 0.008, 0.009)], 0.01) == []


def test_a_part_of_another_dependency_does_not_stand_for_one_whose_name_it_begins_with() -> None:
    parts = [_part("dependency db2: disk or file", 0.005, 0.001)]
    parts += [_part(f"dependency db: {state}", 0.001, 0.0002) for state in "abcde"]
    wholes = [_part("dependency db2", 0.005, 0.001), _part("dependency db", 0.005, 0.001)]
    assert causes(parts, wholes, 0.01) == ["dependency db2: disk or file", "dependency db"]


def test_the_generator_is_not_late_while_the_server_is_seen_to_have_the_request() -> None:
    def both(evidence: TailEvidence, slow: list[Stamps]) -> None:
        evidence.tail.timeline.cpu_waits = [(b, e, GENERATOR) for b, e in during(slow)]

    assert explained(*[window(both)] * 3).main == ["lock, pool or timer"]


def test_a_blocked_request_does_not_wait_for_the_cpu_that_other_requests_wait_for() -> None:
    def crowded(evidence: TailEvidence, slow: list[Stamps]) -> None:
        waits = [(at, at + 900, 0) for one in slow for at in range(one.sent + 3 * LOOK, one.last - 3 * LOOK, 2 * LOOK)]
        evidence.tail.timeline.cpu_waits = waits

    found = explained(*[window(crowded)] * 3)
    assert found.main == ["lock, pool or timer"]
    assert found.parts[0].seconds == pytest.approx(found.total.seconds, rel=0.25)


def test_a_request_that_uses_one_cpu_of_four_uses_all_that_it_can() -> None:
    def alone(evidence: TailEvidence, slow: list[Stamps]) -> None:
        busy(evidence, slow)
        evidence.cpus = 4

    assert explained(*[window(alone)] * 3).main == ["server's own CPU"]


def test_between_looks_that_are_far_apart_the_generator_is_not_late() -> None:
    def starved(evidence: TailEvidence, slow: list[Stamps]) -> None:
        timeline = evidence.tail.timeline
        timeline.sockets = [
            span
            for one in slow
            for span in (
                (one.sent, one.sent + 2 * LOOK, one.port, "read"),
                (one.sent + 2 * LOOK, one.last, one.port, "unacknowledged"),
            )
        ]
        gaps = [(one.sent + 2 * LOOK, one.last - LOOK) for one in slow]
        timeline.looks = [look for look in timeline.looks if not any(b < look[0] < e for b, e in gaps)]
        timeline.cpu_waits = [(b, e, GENERATOR) for b, e in gaps]

    assert "load generator late" not in explained(*[window(starved)] * 3).main


def test_another_requests_exchange_is_not_taken_for_this_ones() -> None:
    def crossing(evidence: TailEvidence, slow: list[Stamps]) -> None:
        evidence.addresses = ["postgres"]
        exchanges = [(one.sent - 8000, one.sent + 12_000, 0, 99) for one in slow]
        evidence.tail.timeline.exchanges = exchanges

    assert explained(*[window(crossing)] * 3).main == ["lock, pool or timer"]


def test_a_dependencys_wait_for_a_cpu_is_not_the_servers() -> None:
    def elsewhere(evidence: TailEvidence, slow: list[Stamps]) -> None:
        evidence.tail.timeline.cpu_waits = [(b, e, FIRST_DEPENDENCY) for b, e in during(slow)]

    assert explained(*[window(elsewhere)] * 3).main == ["lock, pool or timer"]


def test_bands_are_around_their_percentiles_whatever_was_kept() -> None:
    evidence = window()
    whole = bands(evidence)
    evidence.tail.slowest = evidence.tail.slowest[:40]
    few = bands(evidence)
    for found in (whole, few):
        assert sum(found["p50"][1].values()) == pytest.approx(0.001)
        assert sum(found["p99"][1].values()) == pytest.approx(0.015)


def test_a_contender_without_a_window_is_not_explained() -> None:
    run = tail_run({"a/b": [window()]})
    found = explain_latency(run, "c/d", "a/b", "lookup", 0.95)
    assert isinstance(found, Unexplained)
    assert "run the phase `tail`" in found.reason


def _all_fast(evidence: TailEvidence) -> None:
    for one in [*evidence.tail.slowest, *evidence.tail.sampled]:
        one.last = one.first = one.sent + 1000


def _blind(evidence: TailEvidence) -> None:
    evidence.tail.timeline.sockets = []
