"""Rule: processes of the server were replaced under load."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from touchstone.judge.case import Case
from touchstone.judge.judgement import Finding, Severity
from touchstone.judge.quantity import seconds
from touchstone.judge.rule import SampleRule
from touchstone.record.sample import Sample

SHARE = 0.2
LEAST_S = 0.05


class ServerRestarted(SampleRule):
    """A supervisor that starts a crashed worker again hides the crash.

    What the crash cost is in the figures.
    """

    code = "server-restarted"
    severity = Severity.SUSPECT
    title = "Processes of the server were replaced under load"
    threshold = (
        "the CPU time of the process tree fell by more than a fifth and by more than 50 ms between two points of "
        "the load"
    )
    threshold_reason = (
        "CPU time of living processes only grows; it falls when a process that had used some is gone. A helper "
        "that ends has used little"
    )
    next_step = (
        "Look for crashes in the server's log; if workers are replaced on purpose, make it rarer than the load is long."
    )

    def look(self, sample: Sample, case: Case) -> Iterator[Finding]:
        """Look at one sample."""
        watch = sample.result.watch if sample.result else None
        points = [p for p in (watch.series if watch else []) if p.phase in ("warmup", "load") and p.cpu_s is not None]
        for before, after in pairwise(points):
            lost = (before.cpu_s or 0.0) - (after.cpu_s or 0.0)
            if after.processes != 0 and lost > LEAST_S and lost > SHARE * (before.cpu_s or 0.0):
                yield self.finding(
                    f"a process that had used {seconds(lost)} of CPU was gone at {seconds(after.t)} of the load",
                    sample=sample,
                    evidence={"before": before.model_dump(), "after": after.model_dump()},
                )
                return
