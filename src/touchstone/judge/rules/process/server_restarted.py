"""Rule: processes of the server were replaced under load."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from touchstone.judge.judgement import Finding, Severity
from touchstone.judge.language.quantity import seconds
from touchstone.judge.reading.case import Case
from touchstone.judge.rule import SampleRule
from touchstone.record.sample import Sample

SHARE = 0.1
LEAST_S = 0.05


class ServerRestarted(SampleRule):
    """A supervisor that starts a crashed worker again hides the crash.

    What the crash cost is in the figures.
    """

    code = "server-restarted"
    severity = Severity.SUSPECT
    title = "Processes of the server were replaced under load"
    threshold = (
        "a process of the tree ended under load that had used more than 50 ms of CPU and more than a tenth of what "
        "the tree has used"
    )
    threshold_reason = (
        "a worker that serves uses CPU, and one of several its share of it; a helper that ends has used little, "
        "however many of them there are"
    )
    next_step = (
        "Look for crashes in the server's log; if workers are replaced on purpose, make it rarer than the load is long."
    )

    def look(self, sample: Sample, case: Case) -> Iterator[Finding]:
        """Look at one sample."""
        watch = sample.result.watch if sample.result else None
        points = [p for p in (watch.series if watch else []) if p.phase in ("warmup", "load")]
        for before, after in pairwise(points):
            ended, used = after.ended_cpu_s or 0.0, after.cpu_s or 0.0
            if after.processes == 0 or ended <= (before.ended_cpu_s or 0.0):
                continue
            if ended > LEAST_S and ended > SHARE * used:
                yield self.finding(
                    f"a process that had used {seconds(ended)} of CPU was gone at {seconds(after.t)} of the load",
                    sample=sample,
                    evidence={"before": before.model_dump(), "after": after.model_dump()},
                )
                return
