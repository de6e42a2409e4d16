"""Rule: the first response came before the service was ready."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.judge.figures import BOOT_TIME
from touchstone.judge.judgement import Doubt, Finding, Severity
from touchstone.judge.language.quantity import seconds
from touchstone.judge.reading.case import Case
from touchstone.judge.rule import SampleRule
from touchstone.record.sample import Sample

LEAST_S = 0.5
TIMES = 4


class ReadyTooEarly(SampleRule):
    """An article timed services that log "ready" before they bind their port.

    One that answers its ready request from a stub, and the rest with 503, is the same trick.
    """

    code = "ready-too-early"
    severity = Severity.INVALID
    title = "The first response came before the service was ready"
    threshold = (
        "a request of a load, or a check of the contract that held otherwise, that is not answered correctly when it "
        "follows the first correct response to the ready request; suspect where one of a load takes longer than the "
        "whole start, than 0.5 s and than four times the load's p99"
    )
    threshold_reason = (
        "the figure is the time to the first valid response, and a service that cannot do the work yet has not "
        "started; nor has one that leaves most of it to the first request, and half a second is more than first "
        "connections to dependencies and the classes of a first request take"
    )
    next_step = "Let `ready` be a request that does the work, or let the service answer only when it can."
    own_failure = True
    phases = ("boot",)

    def look(self, sample: Sample, case: Case) -> Iterator[Finding]:
        """Look at one sample."""
        never = {
            check.id
            for verified in case.run.samples
            if verified.phase == "verify" and verified.contender == sample.contender
            for check in verified.checks
            if not check.passed
        }
        broken = [check for check in sample.checks if not check.passed and check.id not in never]
        if broken:
            first = broken[0].broken[0] if broken[0].broken else None
            how = f": {first.request}: expected {first.expected}, received {first.received}" if first else ""
            yield self.finding(
                f"right behind its first answer it broke {', '.join(repr(c.id) for c in broken)}{how}",
                sample=sample,
                evidence={"checks": [c.model_dump() for c in broken[:3]]},
            )
        yield from self._left_to_the_first_request(sample, case)

    def _left_to_the_first_request(self, sample: Sample, case: Case) -> Iterator[Finding]:
        start_s = sample.figures.get("boot_first_response")
        for check in sample.checks if start_s else []:
            later = [
                loaded.figures["latency_p99"]
                for loaded in case.run.samples
                if f"load-{loaded.load}" == check.id
                and loaded.contender == sample.contender
                and "latency_p99" in loaded.figures
            ]
            first_s = check.longest_s or 0.0
            if not later or not start_s or first_s <= max(LEAST_S, start_s, TIMES * max(later)):
                continue
            yield self.finding(
                f"the first request of {check.id.removeprefix('load-')} took {seconds(first_s)}, and the start "
                f"{seconds(start_s)}",
                severity=Severity.SUSPECT,
                sample=sample,
                figures=BOOT_TIME,
                doubt=Doubt(slower=1 + first_s / start_s, reason="a part of the start is left to the first request"),
                evidence={"first_s": first_s, "start_s": start_s, "p99_s": max(later)},
            )
            return
