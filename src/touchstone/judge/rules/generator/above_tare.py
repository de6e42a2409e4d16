"""Rule: faster than a server that does nothing."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.judge.figures import SPEED
from touchstone.judge.judgement import Finding, Severity
from touchstone.judge.language.quantity import number, seconds, share
from touchstone.judge.reading.case import Case
from touchstone.judge.reading.traffic import loop
from touchstone.judge.rule import SampleRule
from touchstone.record.sample import Sample

FASTER = 1.25
SHORTER = 0.5


class AboveTare(SampleRule):
    """No server beats the null server by much.

    Where one seems to, units, counts or the tare are wrong.
    """

    code = "above-tare"
    severity = Severity.SUSPECT
    title = "Faster than a server that does nothing"
    threshold = (
        "throughput more than 25 % above the best tare of the load (closed loop), or the median latency below "
        "half of the lowest tare's (open loop)"
    )
    threshold_reason = (
        "tares are short and vary by up to a tenth between rounds, and the best is taken; a real server saves "
        "nothing against one that only answers"
    )
    next_step = (
        "Check that the tare ran on the same CPUs and connections; look for a cache or a proxy in front of the "
        "contender."
    )

    def look(self, sample: Sample, case: Case) -> Iterator[Finding]:
        """Look at one sample."""
        result, tares = sample.result, [t.result for t in case.tares(sample.load) if t.result is not None]
        if result is None or not tares:
            return
        if loop(sample) == "closed":
            best = max(t.rate.achieved for t in tares)
            if best and result.rate.achieved > best * FASTER:
                yield self.finding(
                    f"{number(result.rate.achieved)}/s is {share(result.rate.achieved / best)} of the best tare "
                    f"({number(best)}/s)",
                    sample=sample,
                    figures=SPEED,
                    evidence={"rate": result.rate.achieved, "best_tare": best},
                )
            return
        medians = [t.latency.p50 for t in tares if t.latency.p50]
        if medians and result.latency.p50 and result.latency.p50 < min(medians) * SHORTER:
            yield self.finding(
                f"the median latency of {seconds(result.latency.p50)} is {share(result.latency.p50 / min(medians))} "
                f"of the "
                f"lowest tare's ({seconds(min(medians))})",
                sample=sample,
                figures=SPEED,
                evidence={"p50_s": result.latency.p50, "lowest_tare_p50_s": min(medians)},
            )
