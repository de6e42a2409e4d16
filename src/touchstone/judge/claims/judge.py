"""Runs and claims in, verdicts out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from touchstone.judge.claims.cause import cause
from touchstone.judge.claims.evidence import Evidence, RunWithJudgement
from touchstone.judge.claims.relations import ClaimTest, measure
from touchstone.judge.claims.ruling import ClaimRuling, ClaimsRuling, Measurement, Reproduction, Ruling
from touchstone.manifest.claim import (
    UNITS,
    Claim,
    ClaimExplanation,
    ClaimsFile,
    EventTest,
    PublishedValue,
    RatioTest,
    Test,
)
from touchstone.record.sample import TARE

Obstacle = Callable[[str, str, str | None], str | None]
"""Why a contender (second) cannot be measured in a scenario (first) under a load (third); None if nothing is known."""


def no_obstacle(_scenario: str, _contender: str, _load: str | None) -> str | None:
    """Nothing is known."""
    return None


def judge_claims(
    claims: ClaimsFile,
    judged: Sequence[RunWithJudgement],
    *,
    obstacle: Obstacle = no_obstacle,
    accept_suspect: bool = False,
    confidence: float | None = None,
) -> ClaimsRuling:
    """Rule on each claim of a file.

    Args:
        claims: the file.
        judged: runs with their judgements, in any order; the newest that has a claim's terms is the one that counts.
        obstacle: says why something that no run holds cannot be measured here.
        accept_suspect: let suspect numbers decide, which they do not by themselves.
        confidence: of intervals that are not the judge's own; the newest run's if not given.

    """
    evidence = Evidence(judged)
    level = confidence or (evidence.judged[0].judgement.confidence if evidence.judged else 0.95)
    rulings = [
        _ClaimJudge(claims, claim, RulingContext(evidence, level, obstacle, accept_suspect)).rule()
        for claim in claims.claims
    ]
    used = {run for ruling in rulings for m in ruling.measurements for run in m.runs}
    return ClaimsRuling(
        name=claims.name,
        claims=rulings,
        runs=[j.run.plan.run_id for j in evidence.judged if j.run.plan.run_id in used],
        confidence=level,
    )


@dataclass(frozen=True)
class RulingContext:
    """What all claims of a file are judged by."""

    evidence: Evidence
    confidence: float
    obstacle: Obstacle
    accept_suspect: bool


class _ClaimJudge:
    """One claim before the judge."""

    def __init__(self, file: ClaimsFile, claim: Claim, setting: RulingContext) -> None:
        self.file = file
        self.claim = claim
        self.scenario = claim.scenario or file.scenario
        self.setting = setting

    def rule(self) -> ClaimRuling:
        """The verdict, from what was said about the claim, its test, and its explanations."""
        claim = self.claim
        measurements = self._measure(claim.test, claim) if claim.test else []
        made = ClaimRuling(id=claim.id, ruling=Ruling.NOT_MEASURED, reason="", measurements=measurements)
        if claim.not_testable is not None:
            made.ruling, made.reason = Ruling.NOT_TESTABLE, claim.not_testable.reason
            return made
        if claim.not_measured is not None:
            made.reason = claim.not_measured
            return made
        made.ruling, made.reason = _all(measurements)
        made.more_rounds = max((m.more_rounds for m in measurements if m.more_rounds), default=None)
        made.cause = cause(self.file, claim, self.setting.evidence, self.setting.confidence)
        made.explanations = [self._reproduce(e) for e in claim.explained_by]
        shown = next((e for e in made.explanations if e.reproduced), None)
        if made.ruling is Ruling.CONTRADICTED and shown is not None:
            made.ruling, made.reason = Ruling.EXPLAINED, shown.says
        return made

    def _reproduce(self, explanation: ClaimExplanation) -> Reproduction:
        measurements = self._measure(explanation.test, explanation)
        ruling, reason = _all(measurements)
        known = {Ruling.HOLDS: True, Ruling.CONTRADICTED: False}
        return Reproduction(
            says=explanation.says, reproduced=known.get(ruling), measurements=measurements, reason=reason
        )

    def _measure(self, test: Test, source: Claim | ClaimExplanation) -> list[Measurement]:
        claim = self.claim
        question = ClaimTest(
            self.scenario,
            source.figure or claim.figure,
            source.load or claim.load,
            self.setting.evidence.admitting(source.admits),
            self.setting.confidence,
        )
        measurements = measure(test, question)
        for m in measurements:
            m.published = _published(claim.published, m, test)
            if m.ruling is Ruling.NOT_MEASURED:
                m.reason = self._obstacle(m) or m.reason or "no run that is at hand has it"
            if self.setting.accept_suspect and m.leaning is not None:
                m.ruling = m.leaning
                m.reason = f"decided by a suspect measurement: {m.suspect}"
        return measurements

    def _obstacle(self, measurement: Measurement) -> str | None:
        for contender in measurement.contenders:
            if contender != TARE and (reason := self.setting.obstacle(self.scenario, contender, measurement.load)):
                return reason
        return None


def _all(measurements: Iterable[Measurement]) -> tuple[Ruling, str]:
    """A claim about several holds if each does, and is contradicted by any of them."""
    made = list(measurements)
    for ruling in (Ruling.CONTRADICTED, Ruling.NOT_MEASURED, Ruling.UNDECIDED):
        found = next((m for m in made if m.ruling is ruling), None)
        if found is not None:
            named = f"{found.label}: " if len(made) > 1 and found.reason and found.label not in found.reason else ""
            return ruling, named + found.reason
    return Ruling.HOLDS, next((m.reason for m in made if m.reason), "")


def _published(published: Sequence[PublishedValue], measurement: Measurement, test: Test) -> float | None:
    """The published number that stands next to a measurement, in its unit."""
    if measurement.unit == "event" or isinstance(test, EventTest):
        return None
    for number in published:
        base, factor = UNITS[number.unit]
        if base != measurement.unit:
            continue
        if measurement.unit == "ratio":
            if isinstance(test, RatioTest) or number.contender in measurement.contenders:
                return number.value
        elif number.contender is None or number.contender in measurement.contenders:
            return number.value * factor
    return None
