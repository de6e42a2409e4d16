"""Rule: what joins the machines kept a CPU busy."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.judge.figures import SPEED
from touchstone.judge.judgement import Finding, Severity
from touchstone.judge.language.quantity import share
from touchstone.judge.reading.case import Case
from touchstone.judge.rule import SampleRule
from touchstone.record.sample import Sample

BUSY = 0.5


class JoiningBusy(SampleRule):
    """On a cluster the engine that leads and watches shares the server machine's last CPU with what joins the machines.

    When that CPU is full, the server's memory and CPU are read late, and what does not fit goes elsewhere.
    """

    code = "joining-busy"
    severity = Severity.SUSPECT
    title = "What joins the machines kept a CPU busy"
    threshold = "Ray's processes on the server's machine used more than half of a CPU during the load"
    threshold_reason = (
        "idle they use some hundredths of a CPU, and the leading engine a few more; above half a CPU little is left "
        "for it when it needs it"
    )
    next_step = (
        "See what else the cluster carries out (`touchstone doctor --cluster`), and let it carry out this run alone."
    )
    looks_at_tares = True

    def look(self, sample: Sample, case: Case) -> Iterator[Finding]:
        """Hold its CPU time against the job's length."""
        result = sample.result
        if result is None or result.joining_cpu_s is None:
            return
        elapsed = result.window.whole_s
        if elapsed and result.joining_cpu_s / elapsed > BUSY:
            used = result.joining_cpu_s / elapsed
            yield self.finding(
                f"what joins the machines used {share(used)} of a CPU on the server's machine",
                sample=sample,
                figures=SPEED,
                evidence={"joining_cpu_s": result.joining_cpu_s, "elapsed_s": elapsed},
            )
