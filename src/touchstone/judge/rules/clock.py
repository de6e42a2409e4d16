"""Rules on clocks: how long the machine takes to read one, and steps of it."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.judge.figures import SPEED
from touchstone.judge.judgement import Severity
from touchstone.judge.language.quantity import number, seconds
from touchstone.judge.reading.case import Case
from touchstone.judge.reading.machine_state import machine_state
from touchstone.judge.rule import Fired, on_sample
from touchstone.record.sample import Sample

_NOTE_NS = 250
_SUSPECT_NS = 1000


@on_sample(
    "clock-costly",
    Severity.SUSPECT,
    title="Reading the clock is costly",
    threshold="one clock reading costs more than 1 microsecond: suspect; more than 250 nanoseconds: a note",
    threshold_reason=(
        "a clock in user space costs 20 to 60 ns, a system call 200 ns or more, a device timer 1 microsecond or more. "
        "At 1 microsecond, two readings are a third of an engine's CPU per request"
    ),
    next_step="Use the tsc clock source (`/sys/devices/system/clocksource`), or another machine.",
)
def clock_costly(sample: Sample, case: Case) -> Iterator[Fired]:
    """The engine reads a clock twice per request. A clock that needs a system call or a device slows the engine."""
    result = sample.result
    cost = result.generator.clock.cost_ns if result else None
    if result is None or cost is None or cost <= _NOTE_NS:
        return
    source = result.generator.clock.source
    yield Fired(
        f"each reading of the clock{f' ({source})' if source else ''} takes {number(cost)} ns, twice per request",
        severity=Severity.SUSPECT if cost > _SUSPECT_NS else Severity.NOTE,
        figures=SPEED,
        evidence=result.generator.clock.model_dump(),
    )


_CLOCK_STEPPED_STEP_S = 0.1
_CLOCK_STEPPED_SLEW = 0.001
_CLOCK_STEPPED_EDGE_S = 1.0


@on_sample(
    "clock-stepped",
    Severity.SUSPECT,
    title="The wall clock was set",
    threshold=(
        "the elapsed times by wall clock and by monotonic clock differ. Over a sample they differ by more than 0.1 s "
        "and more than 0.1 %, or between two readings 0.1 s apart by more than 0.1 s (even if the clock was set back "
        "afterwards). Or, by the wall clock, the load began outside the sample"
    ),
    threshold_reason=(
        "time daemons adjust the speed of the clock by at most 0.05 %, so a larger difference means that the clock "
        "was set. The engine uses the monotonic clock, so its own times remain correct"
    ),
    next_step="Wait until the time daemon has adjusted the clock, or stop it during the run.",
    phases=None,
    tares_too=True,
)
def clock_stepped(sample: Sample, case: Case) -> Iterator[Fired]:
    """Timeouts, leases and logs of servers and databases use the wall clock.

    When the wall clock jumps, they act on a wrong time.
    """
    state, result = machine_state(sample), sample.result
    if state.wall_s is not None and state.monotonic_s is not None:
        off = state.wall_s - state.monotonic_s
        if abs(off) > max(_CLOCK_STEPPED_STEP_S, _CLOCK_STEPPED_SLEW * state.monotonic_s):
            yield Fired(
                f"the wall clock moved by {seconds(off)} against the monotonic clock",
                evidence={"wall_s": state.wall_s, "monotonic_s": state.monotonic_s},
            )
            return
    clock = result.watch.wall_clock if result and result.watch else None
    if clock is not None and abs(clock.step_s) > _CLOCK_STEPPED_STEP_S:
        yield Fired(
            f"the wall clock was set by {seconds(clock.step_s)}, {seconds(clock.t)} after the load began. In total it "
            f"moved by {seconds(clock.range_s)} against the monotonic clock",
            evidence=clock.model_dump(),
        )
        return
    if result is None or not result.window.start_unix_s or not sample.took_s:
        return
    offset = result.window.start_unix_s - sample.started_at.timestamp()
    if not -_CLOCK_STEPPED_EDGE_S <= offset <= sample.took_s + _CLOCK_STEPPED_EDGE_S:
        yield Fired(
            f"by the wall clock, the load began {seconds(offset)} after the sample did, outside the sample's "
            f"{seconds(sample.took_s)}",
            evidence={"offset_s": offset, "took_s": sample.took_s},
        )
