"""Rule: the contenders' runtimes count different numbers of CPUs."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.judge.judgement import Finding, Severity
from touchstone.judge.reading.case import Case
from touchstone.judge.rule import RunRule


class CpusCountedDifferently(RunRule):
    """A runtime chooses its numbers of threads by the CPUs that it counts.

    Under a quota some round up, some round down, and some count the machine's. Part of a difference between contenders
    may be that choice.
    """

    code = "cpus-counted-differently"
    severity = Severity.NOTE
    title = "The contenders' runtimes count different numbers of CPUs"
    threshold = "under one CPU quota two contenders whose runtimes count different numbers of CPUs"
    threshold_reason = "a plain fact: one more thread than there is CPU time for is held back with the others"
    next_step = (
        "Limit to a whole number of CPUs, or set the number for all alike: GOMAXPROCS, TOKIO_WORKER_THREADS, "
        "-XX:ActiveProcessorCount, the number of workers."
    )

    def look(self, case: Case) -> Iterator[Finding]:
        """Look at the run."""
        by_quota: dict[float | None, dict[str, tuple[int, str]]] = {}
        for sample in case.run.samples:
            if (counted := sample.placement.counted_cpus) is not None:
                found = by_quota.setdefault(sample.placement.cpu_limit, {})
                found[sample.contender] = (counted.count, counted.runtime)
        for quota, found in by_quota.items():
            if len({count for count, _ in found.values()}) > 1:
                limit = quota if quota is not None else case.run.environment.cpu_quota
                told = ", ".join(f"{name} ({runtime}) {count}" for name, (count, runtime) in sorted(found.items()))
                yield self.finding(
                    f"under {limit:g} CPUs the runtimes count different numbers of CPUs: {told}",
                    figures=[],
                    evidence={"quota": limit, "counted": {name: count for name, (count, _) in found.items()}},
                )
