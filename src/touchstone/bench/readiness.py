"""Whether a contender that has given its first correct response is ready for the work, too."""

from __future__ import annotations

from collections.abc import Sequence

from touchstone.bench.base import Bench, Built
from touchstone.bench.service import running
from touchstone.contract.checker import ContractChecker, light_checks
from touchstone.manifest.contract import Check, Send
from touchstone.manifest.exchange import LoadRequest, texts_of
from touchstone.manifest.journey import JourneyStep
from touchstone.manifest.load import Load
from touchstone.manifest.template import BuiltInValue, parse
from touchstone.record.sample import CheckOutcome, Sample


def check_readiness(bench: Bench, built: Built, sample: Sample) -> None:
    """Start it again, and send loads' requests and light checks right after the first response.

    A start is timed to the first correct response to `ready`. A stub that gives it, while the service behind it is not
    there yet, would make that figure its own.
    """
    with running(bench, built, sample.process) as contender:
        checker = ContractChecker(contender.service, bench.dependencies, bench.seed)
        sample.checks = ask_first(checker, bench) + checker.run(
            light_checks(bench.scenario.contract_over(bench.scenario.protocol))
        )


def ask_first(checker: ContractChecker, bench: Bench, *, outlives: bool = False) -> list[CheckOutcome]:
    """Send once the requests of loads that need no preparation and no other dependency settings.

    With `outlives` the service keeps what is written: loads that draw new names are left out, since their first name
    would be taken.
    """
    outcomes = []
    for name, load in bench.loads.items():
        if load.prepare or load.dependency_settings or load.error_allowance or load.rows:
            continue
        if outlives and _draws_names(load):
            continue
        for number, steps in enumerate(request_passes(load)):
            check = Check(
                id=f"load-{name}" if not number else f"load-{name}-{number + 1}",
                says=f"the requests of the load {name} are answered",
                steps=list(steps),
            )
            outcomes.append(checker.check(check, cookies=bool(load.journeys)))
    return outcomes


def _draws_names(load: Load) -> bool:
    requests = [*load.requests, *(step for journey in load.journeys for step in journey.steps)]
    texts = (text for request in requests for text in texts_of(request).values())
    return any(isinstance(one, BuiltInValue) for text in texts for one in parse(text).placeholders)


def request_passes(load: Load) -> list[list[Send]]:
    """The load's requests as steps of checks: a mix as one, each journey by itself. None where they need rows."""
    if load.rows:
        return []
    mixes: list[Sequence[LoadRequest]] = [load.requests, *(journey.steps for journey in load.journeys)]
    return [[_step(one) for one in mix] for mix in mixes if mix]


def _step(wanted: LoadRequest) -> Send:
    own = {name: getattr(wanted, name) for name in LoadRequest.model_fields if name != "body_file"}
    return Send(**own, captures=wanted.captures if isinstance(wanted, JourneyStep) else {})
