"""Rules on the contract: checks of it, and phases that could not be carried out."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.judge.judgement import Severity
from touchstone.judge.language.sentences import how_broken
from touchstone.judge.reading.case import Case, SampleGroup
from touchstone.judge.rule import Fired, on_group, on_run, on_sample
from touchstone.record.sample import Sample

_SHOWN = 3


@on_group(
    "contract-broken",
    Severity.INVALID,
    title="The contender does not keep the contract",
    threshold="any check of the verify phase fails, or a request of a load is not answered as it must be",
    threshold_reason="the scenario states the contract, and each check states the correct response",
    next_step=(
        "See which request broke the contract and how, and what the service wrote. Fix the service and measure again."
    ),
    phases=("verify",),
)
def contract_broken(group: SampleGroup, case: Case) -> Iterator[Fired]:
    """Services can be compared only if they do the same work.

    After a failed check every figure of the contender is that of another service.
    """
    broken = [(s, c) for s in group.samples for c in s.checks if not c.passed]
    for sample, check in broken:
        log = sample.process.log if sample.process.log_bytes != 0 else None
        step = f"See what the service wrote to its log ({log} in the run's folder), fix it and measure again."
        yield Fired(
            f"the contender failed the check {check.id!r} ({check.says}){how_broken(check)}",
            contender=group.contender,
            evidence={"check": check.model_dump(), "sample": sample.id},
            next_step=step if log else None,
        )


@on_sample(
    "contract-broken-after-load",
    Severity.INVALID,
    title="The contract held before the load and not after it",
    threshold="any check fails when it is repeated after the load",
    threshold_reason="the same checks passed before the load, so the load caused the failure",
    next_step=(
        "Look for state that workers do not share, such as a note that only one process keeps. Also look for resources "
        "that ran out: connections, sessions, descriptors, threads, memory."
    ),
    own_failure=True,
    phases=("load", "peak", "hold", "drain"),
)
def contract_broken_after_load(sample: Sample, case: Case) -> Iterator[Fired]:
    """A service that responds wrongly after the load was broken by the load.

    Whether its responses during the load were right is unknown.
    """
    broken = [c for c in sample.checks if not c.passed]
    if broken:
        yield Fired(
            f"the contender failed {', '.join(repr(c.id) for c in broken)} after the load{how_broken(broken[0])}",
            evidence={"checks": [c.model_dump() for c in broken]},
        )


@on_sample(
    "contract-broken-in-load",
    Severity.INVALID,
    title="The contract does not hold while the service is loaded",
    threshold=(
        "any check of the contract that is made inside the load is answered wrongly, or a dependency does not show the "
        "work for it. These checks are made in the first round's warm-up, on the load's own connections, between its "
        "requests. A check without a response is repeated once"
    ),
    threshold_reason="the same check passed before the load, one request at a time, so only the load is new",
    next_step=(
        "Look for what the service does differently with many open connections or many requests in progress. It may "
        "skip or postpone work, leave out checks of input, or keep copies for each connection."
    ),
    own_failure=True,
    phases=("load",),
)
def contract_broken_in_load(sample: Sample, case: Case) -> Iterator[Fired]:
    """A service can recognise a contract check by its few connections, and behave differently under load.

    Therefore checks are also made between the requests of the load, on the same connections.
    """
    broken = [check for check in sample.checks_in_load if not check.passed]
    for check in broken[:_SHOWN]:
        yield Fired(
            f"the contender failed the check {check.id!r} under load ({check.says}){how_broken(check)}",
            evidence={"check": check.model_dump(), "made": len(sample.checks_in_load)},
        )


@on_sample(
    "answers-mixed",
    Severity.INVALID,
    title="Responses under load are those of other keys",
    threshold=(
        "under load, the response to a key has another key's body instead of the body that its own key has at rest, "
        "before the load and after it. Keys are requested in the first round's warm-up, between the requests of the "
        "load. Only reading requests with one varying key are used, and only if the load's expectation does not depend "
        "on the key. Bodies that differ at rest are left out"
    ),
    threshold_reason="at rest the service itself shows which response is right for each key",
    next_step=(
        "Look for a value that requests share: a global, or a field of a handler, that is set before a wait (`await`, "
        "a query) and read after it. State the key in the load's expectation, so that every response is checked."
    ),
    own_failure=True,
    phases=("load",),
)
def answers_mixed(sample: Sample, case: Case) -> Iterator[Fired]:
    """A service that gives one user the response for another is wrong, however fast it is."""
    mixed = sample.mixed_answers
    if mixed:
        one = mixed[0]
        yield Fired(
            f"under load, {one.target} got the response {one.received!r}, which belongs to {one.fits!r}",
            evidence={"answers": [answer.model_dump() for answer in mixed]},
        )


@on_group(
    "contract-not-checked",
    Severity.SUSPECT,
    twin_too=False,
    title="The contract was not checked",
    threshold=(
        "a contender has load figures but no verify sample: suspect; a note if the plan left the verify phase out"
    ),
    threshold_reason=(
        "a check takes seconds. A reader can judge a phase that was left out on purpose, but not one that got lost"
    ),
    next_step="Run with the verify phase.",
)
def contract_not_checked(group: SampleGroup, case: Case) -> Iterator[Fired]:
    """A service that was only timed may not do the work at all."""
    verified = {s.contender for s in case.run.samples if s.phase == "verify" and (s.checks or s.failure)}
    if group.contender in verified:
        return
    planned = "verify" in case.run.plan.phases
    yield Fired(
        "the contract was not checked" + ("" if planned else ", because the plan leaves out the phase verify"),
        severity=Severity.SUSPECT if planned else Severity.NOTE,
        evidence={"phases": case.run.plan.phases},
    )


@on_sample(
    "phase-failed",
    Severity.INVALID,
    title="A measurement could not be carried out",
    threshold="a failure is recorded with the sample",
    threshold_reason="there is nothing to weigh: touchstone itself recorded that it could not go on",
    next_step="Read what failed, and the last lines of its log.",
    phases=None,
    tares_too=True,
)
def phase_failed(sample: Sample, case: Case) -> Iterator[Fired]:
    """A measurement that ended early has no figures, and that is a result too."""
    failure = sample.failure
    if failure is not None:
        where = f"{failure.where}: " if failure.where else ""
        step = f"{failure.fix[:1].upper()}{failure.fix[1:]}." if failure.fix else None
        yield Fired(f"{where}{failure.what}", evidence=failure.model_dump(), next_step=step)


@on_run(
    "proofs-left-out",
    Severity.NOTE,
    title="Some proofs of the contract were left out",
    threshold="a sample says that a check, proof, preparation or setting was left out",
    threshold_reason="it is a fact about how the service was run. Its responses were checked like those of all others",
    next_step=(
        "Query the service's own database after the run. Or add the service as a stack, and touchstone queries it."
    ),
)
def proofs_left_out(case: Case) -> Iterator[Fired]:
    """If touchstone did not start the service, only the responses can be checked.

    Rows and settings in its database are out of touchstone's reach.
    """
    left_out: dict[str, dict[str, None]] = {}
    for sample in case.run.samples:
        if shown := [*sample.process.left_out, *sample.left_out]:
            left_out.setdefault(sample.contender, {}).update(dict.fromkeys(shown))
    for contender, found in left_out.items():
        shown = list(found)
        more = f"; and {len(shown) - _SHOWN} more" if len(shown) > _SHOWN else ""
        yield Fired(
            f"some checks of {contender} were left out: {'; '.join(shown[:_SHOWN])}{more}",
            contender=contender,
            evidence={"left_out": shown},
        )
