"""Carries out the checks of a contract, one after the other."""

from __future__ import annotations

import os
import re
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from touchstone.contract.proof import Tally, prove
from touchstone.contract.values import ValueSource
from touchstone.contract.words import describe, expectation_in_words, needs, secrets_within
from touchstone.dependency.base import Dependency
from touchstone.engine.ask import AskedService, RequestValues, Response, lane
from touchstone.isolation.busiest import busiest, process_times
from touchstone.manifest.contract import Act, Check, Proof, Send, Step, Wait
from touchstone.manifest.template import parse
from touchstone.record.sample import CheckOutcome, Exchange
from touchstone.record.secret import without

_KEPT = 3
"""Broken exchanges kept as evidence of one check: the first ones say it all."""
_LIGHT = 10
"""Most requests of a check that may be repeated after a load."""
_TRIES = 3
"""How often a check is made at most whose outcome depends on the moment."""
_BOUND = re.compile(r"[<>]=?\s*\d+\s*$")
_KEPT_BOUND = "yes"
"""The answer of a dependency to a question with a bound that is kept."""
_CHANGE = "execute"
"""The act that changes a dependency's data, and not its behaviour."""


@dataclass
class StepResponses:
    """What came of a step's requests."""

    sent: int = 0
    ok: int = 0
    broken: list[Exchange] = field(default_factory=list)
    """The first that were answered wrongly, or not at all."""
    took_s: float | None = None
    """How long a request took that was sent once."""


@dataclass
class ContractChecker:
    """Checks one service against a contract."""

    service: AskedService
    dependencies: Mapping[str, Dependency]
    seed: int = 0

    def run(self, checks: Iterable[Check]) -> list[CheckOutcome]:
        """All checks in their order. One that breaks does not stop the others: the report shows all that is wrong."""
        return [self._tried(check) for check in checks]

    def _tried(self, check: Check) -> CheckOutcome:
        """A check's outcome; made again where only a bound on a count was not kept.

        A busy machine may bring that about. If it breaks each time, the outcome is the first one, with what else ran.
        """
        first = self.check(check)
        if first.passed or not _is_of_timing(check, first):
            return first
        before, began = process_times(), time.monotonic()
        for tries in range(2, _TRIES + 1):
            if (again := self.check(check)).passed:
                return again.model_copy(update={"tries": tries})
        total = (time.monotonic() - began) * (os.cpu_count() or 1)
        return first.model_copy(update={"tries": _TRIES, "ran": list(busiest(before, process_times(), total))})

    def check(self, check: Check, *, cookies: bool = False) -> CheckOutcome:
        """One check: its steps on one connection, as far as they can share it, then its proofs.

        With `cookies` those that responses set are sent back, as in a journey. A step that needs a value which an
        earlier step did not give is skipped, and reported so.
        """
        source = ValueSource(self.seed)
        done = StepResponses()
        took: list[float] = []
        with lane() as shared:
            for step in check.steps:
                if lacking := [name for name in needs(step) if name not in source.captured]:
                    done.broken.append(_skipped(step, lacking))
                elif isinstance(step, Wait):
                    time.sleep(step.wait_s)
                elif isinstance(step, Act):
                    self.act(step, source)
                else:
                    outcome = self.send(step, source, shared, cookies=cookies)
                    done.sent, done.ok = done.sent + outcome.sent, done.ok + outcome.ok
                    done.broken += outcome.broken
                    took += [] if outcome.took_s is None else [outcome.took_s]
        for proof in check.proofs:
            done.broken += self._prove(proof, Tally(done.sent, done.ok), source)
        return CheckOutcome(
            id=check.id,
            says=check.says,
            passed=not done.broken,
            broken=done.broken[:_KEPT],
            longest_s=max(took, default=None),
        )

    def act(self, step: Act, source: ValueSource) -> None:
        """Do to a dependency what a step says. Raises DependencyError."""
        values = source.next()
        arguments = {name: values.fill(one) if isinstance(one, str) else one for name, one in step.with_.items()}
        self.dependencies[step.dependency].act(step.act, arguments)

    def send(
        self, step: Send, source: ValueSource, shared: int | None = None, *, cookies: bool = False
    ) -> StepResponses:
        """Send a step's requests and capture what later steps need. Consecutive requests use the lane `shared`."""
        first = source.next(step.repeat)
        answers = self.service.exchanges(
            step,
            first,
            repeat=step.repeat,
            concurrent=step.concurrent,
            within_s=step.within_s or 0.0,
            captures=step.captures,
            lane=shared,
            cookies=cookies,
        )
        for name in step.captures:
            source.captured.pop(name, None)
        for answer in answers:
            source.captured |= answer.captured
        wrong = [(number, answer) for number, answer in enumerate(answers) if answer.faults]
        broken = [_broken(step, replace(first, counter=first.counter + at), one) for at, one in wrong[:_KEPT]]
        once = step.repeat == 1 and not step.within_s
        return StepResponses(
            sent=step.repeat,
            ok=step.repeat - len(wrong),
            broken=broken + _tally_faults(step, answers),
            took_s=answers[0].took_s if once else None,
        )

    def _prove(self, proof: Proof, tally: Tally, source: ValueSource) -> list[Exchange]:
        if lacking := [name for name in parse(proof.query).names("capture") if name not in source.captured]:
            return [
                Exchange(request=f"{proof.says}: {proof.query}", expected=str(proof.equals), received=_for(lacking))
            ]
        proven = prove(proof, self.dependencies, tally, source.next())
        if proven.passed:
            return []
        return [
            Exchange(request=f"{proof.says}: {proven.query}", expected=str(proven.expected), received=str(proven.found))
        ]


def _is_of_timing(check: Check, outcome: CheckOutcome) -> bool:
    """Whether every break is a bound on a count, such as a dependency's open connections."""
    bounds = {f"{proof.says}: " for proof in check.proofs if _BOUND.search(proof.query) and proof.equals == _KEPT_BOUND}
    return all(any(one.request.startswith(says) for says in bounds) for one in outcome.broken)


def _broken(step: Send, values: RequestValues, answer: Response) -> Exchange:
    received = "; ".join(answer.faults)
    if answer.failure is None:
        received = f"{received} | {answer}"
    return Exchange(
        request=describe(step, values),
        expected=expectation_in_words(step, values),
        received=without(received, secrets_within(step, values)),
    )


def _skipped(step: Step, lacking: Sequence[str]) -> Exchange:
    what = f"{step.method} {step.target}" if isinstance(step, Send) else "an act on a dependency"
    expected = " or ".join(map(str, step.expect.statuses)) if isinstance(step, Send) else "done"
    return Exchange(request=what, expected=expected, received=_for(lacking))


def _for(lacking: Sequence[str]) -> str:
    names = ", ".join(f"{{capture.{name}}}" for name in lacking)
    return f"skipped: it needs {names}, which no answer to an earlier step gave"


def _tally_faults(step: Send, answers: Sequence[Response]) -> list[Exchange]:
    if not step.tally:
        return []
    counted = Counter(str(answer.status) for answer in answers)
    if dict(counted) == step.tally:
        return []
    return [
        Exchange(
            request=f"{step.method} {step.target}, {step.repeat} times, {step.concurrent} at once",
            expected=f"by status: {step.tally}",
            received=f"by status: {dict(sorted(counted.items()))}",
        )
    ]


def askable(checks: Iterable[Check], dependencies: Mapping[str, Dependency]) -> tuple[list[Check], list[str]]:
    """What can be checked with these dependencies alone, and what cannot, a sentence each.

    If a check's proof asks another dependency, only its requests stay. A check that acts on another is left out.
    """
    kept, left_out = [], []
    for check in checks:
        acts = [step.dependency for step in check.steps if isinstance(step, Act)]
        if unknown := next((name for name in acts if name not in dependencies), None):
            left_out.append(f"the check {check.id} acts on {unknown}, and was not run")
            continue
        lost = [proof for proof in check.proofs if proof.dependency not in dependencies]
        left_out += [f"{proof.says}: {proof.dependency} could not be asked (check {check.id})" for proof in lost]
        known = [proof for proof in check.proofs if proof not in lost]
        kept.append(check.model_copy(update={"proofs": known}) if lost else check)
    return kept, left_out


def light_checks(checks: Iterable[Check], *, last: bool = False) -> list[Check]:
    """The checks that may be repeated after a load: few requests, no act on a dependency, no proof by count.

    After the `last` load of a process also those that change what a dependency holds behind the service's back: who
    keeps answers of its own only under load is seen then, and no later load finds the change.
    """
    return [
        check
        for check in checks
        if not check.proofs
        and all(_is_light(step, may_change=last) for step in check.steps)
        and sum(step.repeat for step in check.steps if isinstance(step, Send)) <= _LIGHT
    ]


def _is_light(step: Step, *, may_change: bool) -> bool:
    if isinstance(step, Send):
        return step.within_s is None
    return may_change and isinstance(step, Act) and step.act == _CHANGE
