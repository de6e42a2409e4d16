"""The profiles behind a claim: where the CPU per request of its two contenders differs."""

from __future__ import annotations

from touchstone.judge.claims.check import terms
from touchstone.judge.claims.evidence import Evidence, Measurand
from touchstone.judge.why.explain import explain
from touchstone.judge.why.explanation import CpuExplanation
from touchstone.manifest.claim import Claim, ClaimsFile

PROFILED = "profile_cpu"
"""The figure that every profile has."""


def profiled_places(file: ClaimsFile, claim: Claim) -> list[Measurand]:
    """The contender and the one that it is compared with, as the phase `profile` measures them. Empty without `why`."""
    if not claim.why or claim.test is None:
        return []
    scenario = claim.scenario or file.scenario
    return [Measurand(scenario, term.contender, term.load or claim.load, PROFILED) for term in terms(claim.test)]


def cause(file: ClaimsFile, claim: Claim, evidence: Evidence, confidence: float) -> CpuExplanation | None:
    """From the newest run that profiled both. None if none did, or the claim does not ask."""
    places = profiled_places(file, claim)
    if not places:
        return None
    contender, baseline = places
    for judged in evidence.judged:
        if judged.run.plan.scenario != contender.scenario:
            continue
        found = explain(judged.run, baseline.contender, contender.contender, str(contender.load), confidence)
        if isinstance(found, CpuExplanation):
            return found
    return None
