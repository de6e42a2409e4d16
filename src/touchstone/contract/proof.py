"""Asks a dependency whether the work was really done."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, field

from touchstone.dependency.base import Dependency
from touchstone.engine.ask import RequestValues
from touchstone.failure import UsageError
from touchstone.manifest.contract import Proof
from touchstone.record.sample import ProofOutcome

_FORMULA = re.compile(r"(ok|sent)(?:\s*([+-])\s*(\d+))?")


@dataclass(frozen=True)
class Tally:
    """How many requests were sent, and how many were answered as expected.

    `uncertain` are requests of which nobody can say whether the service carried them out: they were sent, and no whole
    answer came back. `beyond` are requests of the contract that were made inside the load, and may have done the same
    work.
    """

    sent: int
    ok: int
    uncertain: int = 0
    beyond: int = 0
    by_request: Mapping[str, Tally] = field(default_factory=dict)
    """The same of each request of a mix, by its name, where they are counted apart."""

    def of(self, proof: Proof) -> Tally:
        """The tally that a proof is held against: of the requests that it names, or of all."""
        own = [self.by_request[name] for name in proof.requests]
        if not own:
            return self
        return Tally(sum(one.sent for one in own), sum(one.ok for one in own), sum(one.uncertain for one in own))


def counts_work(proof: Proof) -> bool:
    """Whether the answer must grow with the requests, and is not a fixed one."""
    return isinstance(proof.equals, str) and _FORMULA.fullmatch(proof.equals.strip()) is not None


def prove(
    proof: Proof, dependencies: Mapping[str, Dependency], tally: Tally, values: RequestValues, before: float = 0
) -> ProofOutcome:
    """Ask, again and again until `within_s` has passed if the answer is not right at once.

    `before` is what the answer was before the requests that are tallied, where it counts work.
    """
    if proof.dependency not in dependencies:
        raise UsageError(
            f"a proof asks dependency {proof.dependency!r}, which the scenario does not have",
            fix=f"there are: {', '.join(dependencies) or 'none'}",
        )
    tally = tally.of(proof)
    query = values.fill(proof.query)
    expected = _expected(proof.equals, tally)
    slack = tally.uncertain if isinstance(proof.equals, str) and proof.equals.startswith("ok") else 0
    slack += tally.beyond if counts_work(proof) else 0
    deadline = time.monotonic() + (proof.within_s or 0)
    while True:
        found = dependencies[proof.dependency].ask(query)
        if before and not isinstance(found, str):
            found -= before
        if _agrees(found, expected, slack):
            return ProofOutcome(says=proof.says, query=query, expected=expected, found=found, passed=True)
        if time.monotonic() >= deadline:
            return ProofOutcome(says=proof.says, query=query, expected=expected, found=found, passed=False)
        time.sleep(0.1)


def _expected(equals: str | int, tally: Tally) -> int | str:
    if isinstance(equals, int):
        return equals
    match = _FORMULA.fullmatch(equals.strip())
    if match is None:
        return equals
    base = tally.ok if match.group(1) == "ok" else tally.sent
    offset = int(match.group(3) or 0)
    return base - offset if match.group(2) == "-" else base + offset


def _agrees(found: float | str, expected: int | str, slack: int) -> bool:
    if isinstance(expected, int) and not isinstance(found, str):
        return expected <= found <= expected + slack
    return str(found) == str(expected)
