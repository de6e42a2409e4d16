"""What goes before a load, and the proof of its work after it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from touchstone.bench.base import Bench
from touchstone.contract.checker import ContractChecker
from touchstone.contract.proof import Tally, counts_work, prove
from touchstone.contract.values import ValueSource, fresh_of
from touchstone.dependency.base import Dependency
from touchstone.failure import TouchstoneError
from touchstone.manifest.contract import Act, Send
from touchstone.manifest.load import Load
from touchstone.record.sample import Exchange, ProofOutcome, Sample


class PrepareError(TouchstoneError):
    """The requests that go before a load were not answered as they must be."""

    def __init__(self, broken: Exchange) -> None:
        self.broken = broken
        super().__init__(
            f"the load's preparation broke: {broken.request}: expected {broken.expected}, received {broken.received}",
            fix="run the contract check: `touchstone run --phase verify`",
        )


def prepare_load(checker: ContractChecker, load: Load, seed: int) -> Mapping[str, str]:
    """Send what goes before a load with this seed. The values that it has captured, by name.

    Raises PrepareError if it is not answered as it must be.
    """
    source = ValueSource(seed, fresh_of(seed))
    for step in load.prepare:
        if isinstance(step, Act):
            checker.act(step, source)
        elif broken := checker.send(step, source).broken:
            raise PrepareError(broken[0])
    return source.captured


def prepare_once(
    bench: Bench, contender: str, checker: ContractChecker, load: Load, sample: Sample
) -> Mapping[str, str]:
    """Prepare a service that outlives the round, once in a run. The captured values, as `prepare_load` gives them.

    A wrong answer is recorded and is not a failure: an earlier run may have prepared it already, and the load looks
    at each response. It is a failure where the load needs a value that was not captured. Raises PrepareError.
    """
    key = contender, "".join(step.model_dump_json() for step in load.prepare)
    if key not in bench.prepared:
        bench.prepared[key] = {}
        try:
            bench.prepared[key] = prepare_load(checker, load, bench.seed)
        except PrepareError as error:
            if any(isinstance(step, Send) and step.captures for step in load.prepare):
                del bench.prepared[key]
                raise
            sample.left_out.append(error.what)
    return bench.prepared[key]


def not_asked(load: Load, dependencies: Mapping[str, Dependency]) -> list[str]:
    """What of a load cannot be set or proven with these dependencies alone, a sentence each."""
    found = [
        f"{name} was not set as the load wants it: {', '.join(settings)}"
        for name, settings in load.dependency_settings.items()
        if name not in dependencies
    ]
    return found + [
        f"{proof.says}: {proof.dependency} could not be asked"
        for proof in load.proofs
        if proof.dependency not in dependencies
    ]


def work_before(load: Load, dependencies: Mapping[str, Dependency], seed: int) -> list[float]:
    """What each of the load's proofs that count work would answer now: what is there already is not the load's work."""
    values = ValueSource(seed, fresh_of(seed)).next()
    found = []
    for proof in load.proofs:
        answer: float | str = 0
        if counts_work(proof) and proof.dependency in dependencies:
            answer = dependencies[proof.dependency].ask(values.fill(proof.query))
        found.append(0.0 if isinstance(answer, str) else answer)
    return found


def prove_load(
    load: Load,
    dependencies: Mapping[str, Dependency],
    tally: Tally,
    seed: int,
    before: Sequence[float],
) -> list[ProofOutcome]:
    """Ask the dependencies for the proof of the whole load, warm-up included; `before` is from `work_before`.

    A proof of a dependency that is not there is left out: `not_asked` names it.
    """
    values = ValueSource(seed, fresh_of(seed)).next()
    return [
        prove(proof, dependencies, tally, values, amount)
        for proof, amount in zip(load.proofs, before, strict=True)
        if proof.dependency in dependencies
    ]
