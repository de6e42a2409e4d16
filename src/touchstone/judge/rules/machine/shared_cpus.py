"""Rule: server and engine share CPUs."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.judge.judgement import Finding, Severity
from touchstone.judge.reading.case import Case
from touchstone.judge.rule import RunRule
from touchstone.record.sample import TARE


class SharedCpus(RunRule):
    """Who shares a CPU takes turns.

    The server's figures then hold the engine's work as well.
    """

    code = "shared-cpus"
    severity = Severity.NOTE
    title = "Server and engine share CPUs"
    threshold = "the CPU sets of server and engine, or of server and dependencies, overlap"
    threshold_reason = "a plain fact of the plan, true for all contenders alike; so it is a note"
    next_step = "Use a machine with more CPUs, or read the ratios and not the absolute figures."

    def look(self, case: Case) -> Iterator[Finding]:
        """Look at the run."""
        shared: dict[str, list[str]] = {}
        for sample in case.run.samples:
            if sample.phase != "load" or sample.contender == TARE:
                continue
            place = sample.placement
            for who, cpus in (("the engine", place.engine_cpus), ("its dependencies", place.dependency_cpus)):
                if set(cpus) & set(place.server_cpus):
                    shared.setdefault(who, []).append(sample.id)
        for who, samples in shared.items():
            yield self.finding(
                f"the server shares CPUs with {who} in {len(samples)} sample(s)", evidence={"samples": samples[:10]}
            )
