"""What is read of JFR's recordings. The recorded one is of a JDK 25 that served the starter for Java."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from touchstone.phase.profile.flight_recorder import NOT_SEEN, Recording, recorded_samples, scaled_stacks
from touchstone.phase.profile.profiler import HERTZ
from touchstone.phase.profile.threads import ThreadTime

RECORDING = Path(__file__).parent / "recordings/http-server.json"


@pytest.fixture
def document() -> dict[str, Any]:
    read: dict[str, Any] = json.loads(RECORDING.read_text())
    return read


def without_cpu_time(document: dict[str, Any]) -> dict[str, Any]:
    """As a JDK before 25 records it."""
    events = [one for one in document["recording"]["events"] if one["type"] != "jdk.CPUTimeSample"]
    return {"recording": {"events": events}}


def test_samples_by_cpu_time_come_before_those_by_the_clock(document: dict[str, Any]) -> None:
    recorded = recorded_samples(document)
    assert recorded.event == "jdk.CPUTimeSample"
    assert len(recorded.stacks) == 6


def test_a_stack_goes_from_its_thread_inwards_by_javas_names(document: dict[str, Any]) -> None:
    written = recorded_samples(document).stacks[0]
    assert written[0] == "virtual thread"
    assert written[1] == "jdk.internal.vm.Continuation.enterSpecial"
    assert "Server.main" not in written
    assert written[-2:] == ["sun.nio.ch.SocketDispatcher.write0", NOT_SEEN]
    assert not any("0x" in frame or "/" in frame for stack in recorded_samples(document).stacks for frame in stack)


def test_what_a_native_method_does_is_not_seen_and_what_java_does_is(document: dict[str, Any]) -> None:
    unseen = [stack[-1] == NOT_SEEN for stack in recorded_samples(document).stacks]
    assert unseen == [True, True, True, False, False, True]


def test_by_the_clock_a_thread_that_sleeps_is_no_sample(document: dict[str, Any]) -> None:
    recorded = recorded_samples(without_cpu_time(document))
    ends = [stack[-2] for stack in recorded.stacks if stack[-1] == NOT_SEEN]
    assert ends == ["sun.nio.ch.SocketDispatcher.write0"] * 2
    assert len(recorded.stacks) == 4


def test_stacks_share_what_threads_of_java_used_and_the_jvms_own_are_named() -> None:
    recorded = Recording("jdk.CPUTimeSample", [["worker", "a.B.c"]] * 3 + [["worker", "a.B.d"]])
    threads = [ThreadTime("worker-1", 1.5), ThreadTime("worker-2", 0.5), ThreadTime("C2 CompilerThre", 1.0)]
    found = {tuple(stack): count for stack, count in scaled_stacks(recorded, threads)}
    assert found == {
        ("worker", "a.B.c"): pytest.approx(1.5 * HERTZ, abs=1),
        ("worker", "a.B.d"): pytest.approx(0.5 * HERTZ, abs=1),
        ("C CompilerThre", NOT_SEEN): HERTZ,
    }


def test_a_recording_without_a_sample_leaves_what_the_kernel_counted() -> None:
    (stack,) = scaled_stacks(Recording("jdk.CPUTimeSample", []), [ThreadTime("worker-1", 1.0)])
    assert stack == (["thread", NOT_SEEN], HERTZ)
