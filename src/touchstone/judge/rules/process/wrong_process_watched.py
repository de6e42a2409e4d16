"""Rule: the watched process did not do the work."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.judge.figures import CPU, MEMORY
from touchstone.judge.judgement import Finding, Severity
from touchstone.judge.language.quantity import number, seconds
from touchstone.judge.reading.case import Case
from touchstone.judge.reading.traffic import pipeline
from touchstone.judge.rule import SampleRule
from touchstone.record.sample import Sample

LEAST_S = 1e-6
TICKS_S = 0.02


class WrongProcessWatched(SampleRule):
    """Memory and CPU of a launcher are small and mean nothing.

    A process that serves requests uses CPU for each.
    """

    code = "wrong-process-watched"
    severity = Severity.INVALID
    title = "The watched process did not do the work"
    threshold = (
        "the watched tree used less than 1 microsecond of CPU per request (divided by the pipelining depth), with "
        "20 ms allowed for the clock"
    )
    threshold_reason = (
        "receiving and sending on a loopback socket costs about 5 microseconds in the kernel alone; the kernel's "
        "CPU accounts tick every 10 ms"
    )
    next_step = "Start the server itself and not a script that leaves it behind; look at `argv` in stack.toml."

    def look(self, sample: Sample, case: Case) -> Iterator[Finding]:
        """Look at one sample."""
        result = sample.result
        if result is None or result.watch is None or result.watch.window.cpu_s is None:
            return
        cpu, needed = result.watch.window.cpu_s, result.counts.completed * LEAST_S / pipeline(sample)
        if cpu + TICKS_S < needed:
            yield self.finding(
                f"the watched processes used {seconds(cpu)} of CPU for {number(result.counts.completed)} answers",
                sample=sample,
                figures=[*CPU, *MEMORY],
                evidence={"cpu_s": cpu, "completed": result.counts.completed, "least_cpu_s": needed},
            )
