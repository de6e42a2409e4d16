"""The peak phase: load at once after exec, so that a slow start and a high peak can be weighed against each other."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import ClassVar

from touchstone.bench.base import Bench, blank_sample, sampling
from touchstone.bench.service import running
from touchstone.engine.job import Timing
from touchstone.isolation.process import StartError
from touchstone.manifest.catalogue import Contender
from touchstone.manifest.load import Load
from touchstone.manifest.scenario import Scenario
from touchstone.phase.base import EachInTurn, NullServerTurn, Phase, PlannedTurn
from touchstone.phase.load.reach import out_of_reach, unmeasured
from touchstone.phase.peak.served import peak_figures, served_by_second
from touchstone.plan.plan import spec_of
from touchstone.record.evidence.peak import PeakEvidence
from touchstone.record.sample import TARE, Sample
from touchstone.traffic.null_server import load_null_server
from touchstone.traffic.sequence import LoadSequence
from touchstone.vocabulary.phase import PHASES, PhaseKind

_INTERVAL_S = 0.1
"""Fine enough that the series can be read at the seconds since exec, which are not its own."""


class PeakPhase(Phase):
    """Starts a contender and loads it from its first correct response until a fixed time."""

    kind: ClassVar[PhaseKind] = PHASES["peak"]

    def applies(self, scenario: Scenario) -> bool:
        """Only where the scenario says under which load."""
        return scenario.peak is not None

    def plan(self, bench: Bench, contenders: Sequence[Contender]) -> Iterator[PlannedTurn]:
        """A start of each contender, and the tare."""
        yield NullServerTurn(self.tares)
        yield EachInTurn()

    def tares(self, bench: Bench, round_number: int) -> list[Sample]:
        """One sample, whose load need not be one of the run's loads."""
        _, load = peak_load(bench)
        sample = load_null_server(bench, load, blank_sample(bench, "peak", TARE, round_number=round_number))
        sample.spec = spec_of(load)
        # It is compared with the rate of contenders after their start; no latency of theirs is like its own.
        sample.figures = {"peak_rate": sample.result.rate.achieved} if sample.result else {}
        return [sample]

    def measure(self, bench: Bench, contender: Contender, round_number: int | None, position: int) -> list[Sample]:
        """One sample. It has no load of its own name, so that it is never taken for the load phase's."""
        name, load = peak_load(bench)
        if why := out_of_reach(contender, load):
            left_out = unmeasured(bench, contender, None, round_number, why, phase="peak", position=position)
            left_out.spec = spec_of(load)
            return [left_out]
        with (
            sampling(bench, "peak", contender.name, round_number=round_number, position=position) as sample,
            running(bench, bench.builds[contender.name], sample.process, under=load) as started,
        ):
            bench.watcher.step(f"loading {contender.name} at once")
            sample.spec = spec_of(load)
            within_s, exec_s = bench.profile.peak_s, started.process.exec_s
            ready_s = time.monotonic() - exec_s
            one = LoadSequence(bench, started, load, sample).prepare()
            with one.watched():
                elapsed_s = time.monotonic() - exec_s
                if elapsed_s >= within_s:
                    raise StartError(
                        f"the load could begin only {elapsed_s:.1f} s after exec, and {within_s:g} s are watched",
                        fix="read its log for slow steps at the start, or use a longer preset (`--thorough`)",
                    )
                job = one.job(Timing(warmup_s=0.0, measured_s=within_s - elapsed_s, idle_s=0.0))
                job["series_interval_s"] = _INTERVAL_S
                # The engine states its start by the wall clock; exec is known on the monotonic one.
                exec_unix_s = time.time() - (time.monotonic() - exec_s)
                result = bench.put_load(job)
            begins_s = result.window.start_unix_s - exec_unix_s
            served = served_by_second(result.series, begins_s, within_s)
            sample.evidence = PeakEvidence(
                load=name, within_s=within_s, ready_s=ready_s, load_begins_s=begins_s, served=served, result=result
            )
            sample.figures = peak_figures(served)
            one.settle(result)
        return [sample]


def peak_load(bench: Bench) -> tuple[str, Load]:
    """The scenario's load for this phase, with its name."""
    assert bench.scenario.peak is not None  # `applies` has seen to it
    name = bench.scenario.peak.load
    return name, bench.scenario.loads[name]
