"""Finds the measurements that claims need."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from touchstone.judge.claims.cause import profiled_places
from touchstone.judge.claims.check import terms
from touchstone.judge.claims.evidence import Evidence, Measurand, MissingReading
from touchstone.judge.claims.relations import FLOORS, ClaimTest
from touchstone.judge.claims.ruling import ClaimsRuling, Ruling
from touchstone.manifest.claim import Claim, ClaimExplanation, ClaimsFile, EventTest, Test
from touchstone.vocabulary.phase import PHASES


@dataclass(frozen=True)
class PlannedRun:
    """One run to make: a scenario's phases under at most one load, for some contenders."""

    scenario: str
    phases: tuple[str, ...]
    load: str | None
    contenders: tuple[str, ...]
    builds_again: bool = False
    """Whether their builds were measured, and do not decide: those that are kept are the same ones."""

    @property
    def name(self) -> str:
        """What tells it from the other steps."""
        named = [name for name in self.phases if self.load is None or not PHASES[name].load_alone]
        return " ".join(filter(None, (self.scenario, self.load, "+".join(named))))


@dataclass(frozen=True)
class UndecidedRun:
    """A step, and the ids of the claims that are undecided and that it measures."""

    step: PlannedRun
    claims: tuple[str, ...]


def places_of(file: ClaimsFile, claim: Claim, evidence: Evidence) -> Iterator[tuple[list[Measurand], Evidence]]:
    """The places that each test of a claim needs together, with what is admitted for it."""
    sources: list[Claim | ClaimExplanation] = [claim, *claim.explained_by]
    for source in sources:
        if source.test is not None:
            admitting = evidence.admitting(source.admits)
            yield _places(file, claim, source, source.test, admitting), admitting


def _places(
    file: ClaimsFile, claim: Claim, source: Claim | ClaimExplanation, test: Test, evidence: Evidence
) -> list[Measurand]:
    question = ClaimTest(
        claim.scenario or file.scenario, source.figure or claim.figure, source.load or claim.load, evidence, 0.95
    )
    if isinstance(test, EventTest):
        figure = FLOORS.get(test.event) or _figure_of(question.load)
        return [question.place(term, figure) for term in terms(test)]
    return [question.place(term) for term in terms(test)]


def _figure_of(load: str | None) -> str:
    """A figure that is measured wherever a finding about this load could fire."""
    return "drain_rate" if load is not None and re.match(r"\d", load) else "throughput"


def missing(files: Iterable[ClaimsFile], evidence: Evidence) -> list[Measurand]:
    """The places whose claims cannot be ruled on yet. What is compared is measured together."""
    wanted: dict[Measurand, None] = {}
    for file in files:
        for claim in file.claims:
            for places, admitting in places_of(file, claim, evidence):
                found = admitting.together(places)
                if isinstance(found, MissingReading) or any(reading.suspect or reading.cold for reading in found):
                    wanted |= dict.fromkeys(places)
            profiled = profiled_places(file, claim)
            if isinstance(evidence.together(profiled), MissingReading):
                wanted |= dict.fromkeys(profiled)
    return list(wanted)


def open_steps(files: Iterable[ClaimsFile], rulings: Iterable[ClaimsRuling], evidence: Evidence) -> list[UndecidedRun]:
    """The runs that could decide claims which their measurements leave open: the one with the most claims first."""
    places: dict[str, dict[Measurand, None]] = {}
    claims: dict[str, dict[str, None]] = {}
    for file, ruling in zip(files, rulings, strict=True):
        still_open = {one.id for one in ruling.claims if one.ruling is Ruling.UNDECIDED and one.measured}
        for claim in (claim for claim in file.claims if claim.id in still_open):
            for wanted, _ in places_of(file, claim, evidence):
                for step in steps(wanted):
                    places.setdefault(step.name, {}).update(dict.fromkeys(wanted))
                    claims.setdefault(step.name, {})[claim.id] = None
    found = [
        UndecidedRun(replace(step, builds_again="build" in step.phases), tuple(claims[name]))
        for name, wanted in places.items()
        for step in steps(wanted)
        if step.name == name
    ]
    return sorted(found, key=lambda one: (-len(one.claims), one.step.name))


def steps(places: Iterable[Measurand]) -> list[PlannedRun]:
    """The runs that measure these places, scenario by scenario: what needs none of its own first."""
    grouped: dict[tuple[str, str, str | None], dict[str, set[str]]] = {}
    for place in places:
        phase = PHASES[place.phase]
        own = phase.name if phase.own_step else ""
        group = grouped.setdefault((place.scenario, own, place.load if phase.by_load else None), {})
        group.setdefault(place.contender, set()).add(place.phase)
    order = ["", *PHASES]
    made = [
        PlannedRun(
            scenario,
            tuple(sorted({phase for phases in group.values() for phase in phases})),
            load,
            tuple(sorted(group)),
        )
        for (scenario, _, load), group in grouped.items()
    ]
    ranks = [order.index(own) for _, own, _ in grouped]
    ranked = sorted(zip(made, ranks, strict=True), key=lambda m: (m[0].scenario, m[1], m[0].load or ""))
    return [step for step, _ in ranked]
