"""Whether claims fit touchstone: figures that exist, units that are theirs, findings that can fire."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.failure import nearest
from touchstone.judge.claims.quantities import QUANTITIES
from touchstone.judge.rules.table import RULES
from touchstone.manifest.claim import (
    UNITS,
    Claim,
    ClaimExplanation,
    ClaimsFile,
    DifferenceTest,
    EqualityTest,
    EventTest,
    OrderTest,
    RatioTest,
    Term,
    Test,
    ValueTest,
)


def complaints(claims: ClaimsFile) -> list[str]:
    """What is wrong with them, a sentence each; empty if nothing is."""
    return [text for claim in claims.claims for text in _claim(claim)]


def terms(test: Test) -> list[Term]:
    """All terms of a test, in order."""
    if isinstance(test, RatioTest | DifferenceTest | EqualityTest):
        return [test.of, test.to]
    return list(test.of)


def _claim(claim: Claim) -> Iterator[str]:
    where = f"claims[{claim.id}]"
    if claim.figure and claim.phase and claim.figure in QUANTITIES and QUANTITIES[claim.figure].phase != claim.phase:
        yield f"{where}.phase is {claim.phase!r}, but {claim.figure} is measured in {QUANTITIES[claim.figure].phase!r}"
    yield from _codes(f"{where}.admits", claim.admits)
    if claim.test is not None:
        yield from _test(f"{where}.test", claim, claim, claim.test)
    if claim.why and claim.test is not None:
        under = {term.load or claim.load for term in terms(claim.test)}
        if len({term.contender for term in terms(claim.test)}) != 2 or len(under) != 1 or under == {None}:
            yield f"{where}.why asks for profiles of two contenders under one load, and the test is not about such"
    for number, explanation in enumerate(claim.explained_by):
        place = f"{where}.explained_by.{number}"
        yield from _codes(f"{place}.admits", explanation.admits)
        yield from _test(f"{place}.test", claim, explanation, explanation.test)


def _test(where: str, claim: Claim, source: Claim | ClaimExplanation, test: Test) -> Iterator[str]:
    if isinstance(test, EventTest):
        yield from _codes(f"{where}.findings", test.findings)
        return
    for term in terms(test):
        name = term.figure or source.figure or claim.figure
        if name is None:
            yield f"{where}: {term.contender} has no figure; give `figure` to the claim or to the term"
        elif name not in QUANTITIES:
            yield f"{where}: there is no figure {name!r}{_near(name, list(QUANTITIES))}"
        else:
            quantity = QUANTITIES[name]
            if quantity.phase == "load" and not (term.load or source.load or claim.load):
                yield f"{where}: {name} of {term.contender} is measured under a load; name it by `load`"
            if isinstance(test, ValueTest | DifferenceTest) and UNITS[test.unit][0] != quantity.unit:
                yield f"{where}.unit is {test.unit!r}, but {name} is measured in {quantity.unit!r}"
            if isinstance(test, OrderTest | EqualityTest | RatioTest) and (
                quantity.unit != QUANTITIES.get(_first(test, source, claim), quantity).unit
            ):
                yield f"{where}: the figures that are put against each other have different units"


def _first(test: OrderTest | EqualityTest | RatioTest, source: Claim | ClaimExplanation, claim: Claim) -> str:
    first = terms(test)[0]
    return first.figure or source.figure or claim.figure or ""


def _codes(where: str, codes: list[str]) -> Iterator[str]:
    for code in codes:
        if code not in RULES:
            yield f"{where}: there is no finding {code!r}{_near(code, list(RULES))}; docs/findings.md lists them"


def _near(name: str, known: list[str]) -> str:
    near = nearest(name, known)
    return f"; did you mean {near!r}?" if near else ""
