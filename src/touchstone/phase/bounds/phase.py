"""The bounds phase: idle times, responses on one connection, and the largest head of a request."""

from __future__ import annotations

from typing import ClassVar

from touchstone.bench.base import Bench, sampling
from touchstone.bench.running_contender import RunningContender, running_contender
from touchstone.engine.client import run_job
from touchstone.engine.job import request
from touchstone.engine.protocol import BoundsJob
from touchstone.failure import TouchstoneError
from touchstone.manifest.catalogue import Contender
from touchstone.manifest.scenario import Bounds, Scenario
from touchstone.manifest.spoken import PLAIN
from touchstone.phase.base import Phase
from touchstone.phase.bounds.figures import bounds_figures
from touchstone.phase.load.reach import unmeasured, without_tcp
from touchstone.record.evidence.bounds import BoundsEvidence, BoundsResult
from touchstone.record.sample import Sample
from touchstone.vocabulary.phase import PHASES, PhaseKind


class BoundsError(TouchstoneError):
    """The bounds of a service could not be looked for."""


class BoundsPhase(Phase):
    """Watches quiet connections of a contender, and sends it ever larger heads."""

    kind: ClassVar[PhaseKind] = PHASES["bounds"]
    outside: ClassVar[bool] = True

    def applies(self, scenario: Scenario) -> bool:
        """Only where the scenario says by which request."""
        return scenario.bounds is not None

    def measure(self, bench: Bench, contender: Contender, round_number: int | None, position: int) -> list[Sample]:
        """One sample."""
        asked = bench.scenario.bounds
        assert asked is not None  # `applies` has seen to it
        if why := without_tcp(contender):
            return [unmeasured(bench, contender, None, round_number, why, phase="bounds", position=position)]
        with sampling(bench, "bounds", contender.name) as sample:
            bench.watcher.step(f"watching quiet connections of {contender.name} for up to {asked.watch_s:g} s")
            # They are those of HTTP/1.1 without TLS, whatever the scenario speaks.
            with running_contender(bench.speaking(PLAIN), contender, sample.process) as found:
                result = run_job("bounds", _job(found, asked), BoundsResult)
            if result.failure is not None:
                raise BoundsError(f"no bounds were found: {result.failure}", fix="read the service's log")
            sample.evidence = evidence = BoundsEvidence(watch_s=asked.watch_s, result=result)
            sample.figures, sample.not_measured = bounds_figures(evidence)
        return [sample]


def _job(at: RunningContender, asked: Bounds) -> BoundsJob:
    return {
        "url": at.url,
        "connect_to": at.address,
        "request": request(asked.request),
        "watch_s": asked.watch_s,
        "responses": asked.responses,
    }
