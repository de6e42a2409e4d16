"""Rule: the knee lies beyond what the generator could offer."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.judge.judgement import Doubt, Finding, Severity
from touchstone.judge.language.quantity import number, share
from touchstone.judge.reading.case import Case
from touchstone.judge.reading.traffic import NEAR_CEILING, has_cpu_to_spare
from touchstone.judge.rule import SampleRule
from touchstone.record.evidence.capacity import CapacityEvidence
from touchstone.record.sample import Sample


class CapacityBeyondGenerator(SampleRule):
    """A rate that the engine cannot offer says nothing of the server, and must not pass for its knee."""

    code = "capacity-beyond-generator"
    severity = Severity.SUSPECT
    title = "The capacity lies beyond what the generator could offer"
    threshold = (
        "the objective held at every rate that the engine could offer; or the capacity is above 90 % of what the null "
        "server bore under the same objective, while the server's CPUs were less than 90 % busy at the highest rate "
        "that held"
    )
    threshold_reason = (
        "what holds at the engine's limit may hold at any rate above it; within a tenth of the null server's capacity "
        "engine and kernel are as much at their limit as the server is, unless its own CPUs are full"
    )
    next_step = "Read it as at least so much. Give the engine more CPUs, or the contender fewer (--cpus 0.5)."
    phases = ("capacity",)

    def look(self, sample: Sample, case: Case) -> Iterator[Finding]:
        """Look at one search."""
        found, rate = sample.capacity, sample.figures.get("capacity")
        if found is None or rate is None:
            return
        why = _why(found, rate)
        if why:
            yield self.finding(
                f"at least {number(rate)}/s: {why}",
                sample=sample,
                figures=["capacity"],
                doubt=Doubt(faster=None, reason="nobody knows how much more it bears"),
                evidence={"capacity": rate, "tare": found.tare, "ended": found.ended},
            )


def _why(found: CapacityEvidence, rate: float) -> str:
    if found.ended == "generator":
        spoilt = [trial.why for trial in found.trials if trial.held is None and trial.void != "others"]
        return f"{found.objective} held wherever the engine could offer the rate ({spoilt[-1] if spoilt else 'all'})"
    held = [trial for trial in found.trials if trial.held]
    busy = max(held, key=lambda trial: trial.rate).server_busy if held else None
    if found.tare and rate > NEAR_CEILING * found.tare and has_cpu_to_spare(busy):
        return (
            f"that is {share(rate / found.tare)} of what the null server bore ({number(found.tare)}/s), and the server "
            f"was busy for {share(busy)}"
        )
    return ""
