"""Rule: samples of one run have different origins."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.judge.judgement import Finding, Severity
from touchstone.judge.reading.case import Case
from touchstone.judge.reading.machine_state import machine_state
from touchstone.judge.rule import RunRule


class MixedProvenance(RunRule):
    """A run is one machine, one engine, one kernel and one scenario.

    Samples that were put together from several do not compare.
    """

    code = "mixed-provenance"
    severity = Severity.INVALID
    title = "Samples of one run have different origins"
    threshold = (
        "more than one engine version, kernel, scenario or scenario version among the samples, or others than the "
        "run states; suspect if only the engine's I/O backend differs within one load"
    )
    threshold_reason = "these are facts of the record; versions of the engine cost differently, and so do its backends"
    next_step = "Measure all contenders in one run; use `touchstone compare` to put two runs side by side."

    def look(self, case: Case) -> Iterator[Finding]:
        """Look at the run."""
        run = case.run
        origins: dict[str, set[str]] = {
            "scenario": {s.scenario for s in run.samples} | {run.plan.scenario},
            "scenario version": {str(s.scenario_version) for s in run.samples} | {str(run.plan.scenario_version)},
            "engine": {s.result.engine.version for s in run.samples if s.result},
            "kernel": {k for s in run.samples if (k := machine_state(s).kernel)},
        }
        if run.environment.kernel and origins["kernel"]:
            origins["kernel"].add(run.environment.kernel)
        for what, found in origins.items():
            if len(found) > 1:
                yield self.finding(f"more than one {what}: {', '.join(sorted(found))}", evidence={what: sorted(found)})
        for load in case.loads:
            backends = {s.result.engine.backend for s in run.samples if s.load == load and s.result}
            if len(backends) > 1:
                yield self.finding(
                    f"more than one I/O backend of the engine: {', '.join(sorted(backends))}",
                    severity=Severity.SUSPECT,
                    load=load,
                    evidence={"backends": sorted(backends)},
                )
