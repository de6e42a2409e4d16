"""Whether a contender that has given its first correct response is ready for the work, too."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.bench.base import Bench, Built
from touchstone.bench.service import running
from touchstone.contract.checker import Checker, light_checks
from touchstone.manifest.contract import Check, Send
from touchstone.manifest.journey import JourneyStep
from touchstone.record.sample import Sample


def check_readiness(bench: Bench, built: Built, sample: Sample) -> None:
    """Start it once more, and carry out the loads' requests and the light checks right behind the first answer.

    A start is timed to the first correct response to `ready`. A stub that gives it, while the service behind it is not
    there yet, would make that figure its own.
    """
    with running(bench, built, sample) as contender:
        checker = Checker(contender.service, bench.dependencies, bench.seed)
        sample.checks = checker.run([*first_requests(bench), *light_checks(bench.scenario.contract)])


def first_requests(bench: Bench) -> Iterator[Check]:
    """The requests of those loads that need neither preparation nor other settings of a dependency."""
    for name, load in bench.loads.items():
        if load.prepare or load.dependency_settings or load.error_allowance or load.rows:
            continue
        steps = [
            Send(
                method=r.method,
                target=r.target,
                headers=r.headers,
                body=r.body,
                expect=r.expect,
                captures=r.captures if isinstance(r, JourneyStep) else {},
            )
            for r in load.all_requests
        ]
        yield Check(id=f"load-{name}", says=f"the requests of the load {name} are answered", steps=list(steps))
