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
    title="The contender breaks the contract",
    threshold="any check of the verify phase fails, or a request of a load is not answered as it must be",
    threshold_reason="each check of the contract states the correct response, so a failure is certain",
    next_step="The evidence shows the request and the response. Fix the service and measure again.",
    phases=("verify",),
)
def contract_broken(group: SampleGroup, case: Case) -> Iterator[Fired]:
    """Services can be compared only if they do the same work. A contender that fails a check does different work."""
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
    title="The contender breaks the contract after the load",
    threshold="any check fails when it is repeated after the load",
    threshold_reason="the same checks passed before the load, so the load caused the failure",
    next_step=(
        "Look for data that only one of several worker processes has. Also look for resources that ran out: "
        "connections, sessions, descriptors, threads, memory."
    ),
    own_failure=True,
    phases=("load", "peak", "hold", "drain"),
)
def contract_broken_after_load(sample: Sample, case: Case) -> Iterator[Fired]:
    """The load broke the service. It is unknown whether its responses during the load were right."""
    broken = [c for c in sample.checks if not c.passed]
    if broken:
        yield Fired(
            f"the contender failed {', '.join(repr(c.id) for c in broken)} after the load{how_broken(broken[0])}",
            evidence={"checks": [c.model_dump() for c in broken]},
        )


@on_sample(
    "contract-broken-in-load",
    Severity.INVALID,
    title="The contender breaks the contract under load",
    threshold=(
        "a check of the contract during the load gets a wrong response, or the work of the check is missing in a "
        "dependency. touchstone makes these checks in the first round's warm-up, on the load's connections and "
        "between its requests. A check without a response is repeated once"
    ),
    threshold_reason="the same check passed before the load, so the load is the cause",
    next_step=(
        "Find out what the service does differently with many open connections or many requests in progress. It may "
        "skip or postpone work, skip input validation, or keep a copy of data per connection."
    ),
    own_failure=True,
    phases=("load",),
)
def contract_broken_in_load(sample: Sample, case: Case) -> Iterator[Fired]:
    """A service could behave correctly in the contract checks and differently under load.

    Therefore touchstone repeats the checks between the requests of the load, on the same connections.
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
    title="Under load, requests get the responses of other keys",
    threshold=(
        "before and after the load, touchstone requests some keys one at a time, and notes the body of each. In the "
        "first round's warm-up it requests the same keys between the requests of the load. The rule fires if a "
        "response then has the body of another key. Only GET requests with one varying key are used, and only if the "
        "load's `expect` does not depend on the key. Keys with two different bodies before and after the load are "
        "left out"
    ),
    threshold_reason="without load, the service itself shows the right response for each key",
    next_step=(
        "Look for a variable that concurrent requests share, such as a global or a field of a handler. The error "
        "occurs if it is set before a wait (`await`, a query) and read after the wait. State the key in the load's "
        "`expect`, so that touchstone checks every response."
    ),
    own_failure=True,
    phases=("load",),
)
def answers_mixed(sample: Sample, case: Case) -> Iterator[Fired]:
    """The service sends one user's response to another user."""
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
        "the checks take only seconds. If the phase was left out on purpose, the reader knows it, so the finding is "
        "a note"
    ),
    next_step="Run with the verify phase.",
)
def contract_not_checked(group: SampleGroup, case: Case) -> Iterator[Fired]:
    """Without the contract checks, nobody knows whether the service does the work."""
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
    threshold_reason="touchstone itself recorded that it could not continue",
    next_step="Read the failure in the evidence, and the last lines of the log.",
    phases=None,
    tares_too=True,
)
def phase_failed(sample: Sample, case: Case) -> Iterator[Fired]:
    """A measurement failed and has no figures. The report shows the failure in their place."""
    failure = sample.failure
    if failure is not None:
        where = f"{failure.where}: " if failure.where else ""
        step = f"{failure.fix[:1].upper()}{failure.fix[1:]}." if failure.fix else None
        yield Fired(f"{where}{failure.what}", evidence=failure.model_dump(), next_step=step)


@on_run(
    "proofs-left-out",
    Severity.NOTE,
    title="Some proofs of the contract were left out",
    threshold="the record says that a check, proof, preparation or setting was left out",
    threshold_reason="the responses were checked like those of all contenders, so it is a note",
    next_step=(
        "Check the service's database after the run. Or add the service as a stack; touchstone then checks the "
        "database."
    ),
)
def proofs_left_out(case: Case) -> Iterator[Fired]:
    """Only the responses were checked, because touchstone did not start this service.

    It cannot read rows and settings in the service's database.
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
