"""Rule: the wall clock was set."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.judge.judgement import Finding, Severity
from touchstone.judge.language.quantity import seconds
from touchstone.judge.reading.case import Case
from touchstone.judge.reading.machine_state import machine_state
from touchstone.judge.rule import SampleRule
from touchstone.record.sample import Sample

STEP_S = 0.1
SLEW = 0.001
EDGE_S = 1.0


class ClockStepped(SampleRule):
    """Timeouts, leases and logs of servers and databases run on the wall clock.

    When it jumps, they act on a time that never was.
    """

    code = "clock-stepped"
    severity = Severity.SUSPECT
    title = "The wall clock was set"
    threshold = (
        "the wall clock and the monotonic clock differ by more than 0.1 s and 0.1 % over a sample, or by more than "
        "0.1 s from one look to the next, 0.1 s later, also if it was put back; or the load's start by the wall clock "
        "lies outside of the sample"
    )
    threshold_reason = (
        "time daemons slew by at most 0.05 %; more is a step. The engine's own times are monotonic and stay right"
    )
    next_step = "Let the time daemon settle before the run, or stop it for its length."
    phases = None
    looks_at_tares = True

    def look(self, sample: Sample, case: Case) -> Iterator[Finding]:
        """Look at one sample."""
        state, result = machine_state(sample), sample.result
        if state.wall_s is not None and state.monotonic_s is not None:
            off = state.wall_s - state.monotonic_s
            if abs(off) > max(STEP_S, SLEW * state.monotonic_s):
                yield self.finding(
                    f"the wall clock moved by {seconds(off)} against the monotonic clock",
                    sample=sample,
                    evidence={"wall_s": state.wall_s, "monotonic_s": state.monotonic_s},
                )
                return
        clock = result.watch.wall_clock if result and result.watch else None
        if clock is not None and abs(clock.step_s) > STEP_S:
            yield self.finding(
                f"the wall clock was set by {seconds(clock.step_s)}, {seconds(clock.t)} after the load began; in all "
                f"it wandered by {seconds(clock.range_s)} against the monotonic clock",
                sample=sample,
                evidence=clock.model_dump(),
            )
            return
        if result is None or not result.window.start_unix_s or not sample.took_s:
            return
        offset = result.window.start_unix_s - sample.started_at.timestamp()
        if not -EDGE_S <= offset <= sample.took_s + EDGE_S:
            yield self.finding(
                f"the load began {seconds(offset)} after its sample by the wall clock, and the sample took "
                f"{seconds(sample.took_s)}",
                sample=sample,
                evidence={"offset_s": offset, "took_s": sample.took_s},
            )
