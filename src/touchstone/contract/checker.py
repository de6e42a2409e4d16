"""Carries out the checks of a contract, one after the other."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from touchstone.contract.capture import MissingError, capture
from touchstone.contract.expect import expectation_in_words, faults
from touchstone.contract.proof import Tally, prove
from touchstone.contract.template import Values, ValueSource
from touchstone.contract.wire import Answer, Service, describe, secrets_within
from touchstone.dependency.base import Dependency
from touchstone.manifest.contract import Act, Check, Send, Step, Wait
from touchstone.record.sample import CheckOutcome, Exchange
from touchstone.record.secret import without

_KEPT = 3
"""Broken exchanges kept as evidence of one check: the first ones say it all."""
_LIGHT = 10
"""A check of at most so many requests may be repeated after a load."""
_CHANGE = "execute"
"""The act that changes what a dependency holds, and not what it does."""


@dataclass
class Checker:
    """Checks one service against a contract."""

    service: Service
    dependencies: Mapping[str, Dependency]
    seed: int = 0

    def run(self, checks: Iterable[Check]) -> list[CheckOutcome]:
        """All checks in their order. One that breaks does not stop the others: the report shows all that is wrong."""
        return [self.check(check) for check in checks]

    def check(self, check: Check) -> CheckOutcome:
        """One check: its steps, then its proofs."""
        source = ValueSource(self.seed)
        broken: list[Exchange] = []
        sent = ok = 0
        took: list[float] = []
        for step in check.steps:
            if isinstance(step, Wait):
                time.sleep(step.wait_s)
            elif isinstance(step, Act):
                self.act(step, source)
            else:
                began = time.monotonic()
                outcome = self.send(step, source)
                if step.repeat == 1 and not step.within_s:
                    took.append(time.monotonic() - began)
                sent += step.repeat
                ok += step.repeat - len(outcome)
                broken += outcome
        for proof in check.proofs:
            proven = prove(proof, self.dependencies, Tally(sent, ok), source.next())
            if not proven.passed:
                broken.append(
                    Exchange(
                        request=f"{proof.says}: {proven.query}",
                        expected=str(proven.expected),
                        received=str(proven.found),
                    )
                )
        return CheckOutcome(
            id=check.id, says=check.says, passed=not broken, broken=broken[:_KEPT], longest_s=max(took, default=None)
        )

    def act(self, step: Act, source: ValueSource) -> None:
        """Do to a dependency what a step says. Raises DependencyError."""
        values = source.next()
        arguments = {name: values.fill(one) if isinstance(one, str) else one for name, one in step.with_.items()}
        self.dependencies[step.dependency].act(step.act, arguments)

    def send(self, step: Send, source: ValueSource) -> list[Exchange]:
        """Send a step's requests; the exchanges that broke."""
        drawn = [source.next() for _ in range(step.repeat)]
        with ThreadPoolExecutor(step.concurrent) as pool:
            results = list(pool.map(lambda values: self._exchange(step, values), drawn))
        results = [(answer, found or _captured(step, answer, source)) for answer, found in results]
        broken = [
            Exchange(
                request=describe(step, values),
                expected=expectation_in_words(step.expect, values),
                received=without(f"{'; '.join(found)} | {answer}", secrets_within(step, values)),
            )
            for values, (answer, found) in zip(drawn, results, strict=True)
            if found
        ]
        return broken + _tally_faults(step, [answer for answer, _ in results])

    def _exchange(self, step: Send, values: Values) -> tuple[Answer, list[str]]:
        deadline = time.monotonic() + (step.within_s or 0)
        while True:
            answer = self.service.exchange(step, values)
            found = faults(step.expect, answer, values, body_expected=step.method != "HEAD")
            if not found or time.monotonic() >= deadline:
                return answer, found
            time.sleep(0.1)


def _captured(step: Send, answer: Answer, source: ValueSource) -> list[str]:
    """Take from an answer what later steps need; what is not in it."""
    missing = []
    for name, wanted in step.captures.items():
        try:
            source.captured[name] = capture(wanted, answer)
        except MissingError as error:
            missing.append(str(error))
    return missing


def _tally_faults(step: Send, answers: Sequence[Answer]) -> list[Exchange]:
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

    Of a check whose proof asks another dependency the requests are left; a check that acts on another is left out.
    """
    kept, left_out = [], []
    for check in checks:
        acts = [step.dependency for step in check.steps if isinstance(step, Act)]
        if unknown := next((name for name in acts if name not in dependencies), None):
            left_out.append(f"the check {check.id} acts on {unknown}, and was not made")
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
