"""Rule: a build called cold was not cold."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.judge.judgement import Finding, Severity
from touchstone.judge.reading.case import Case
from touchstone.judge.rule import SampleRule
from touchstone.record.sample import Sample


class BuildNotCold(SampleRule):
    """A compiler that finds yesterday's objects is fast.

    The build time is then that of looking them up.
    """

    code = "build-not-cold"
    severity = Severity.INVALID
    title = "A build called cold was not cold"
    threshold = "a figure for a cold build whose evidence says that it was not cold, or holds no proof that it was"
    threshold_reason = (
        "the lab looks at the build's folders and caches before it builds; without that look the figure is a guess"
    )
    next_step = "Build again with fresh caches (`--fresh`), and see which cache the build tool keeps elsewhere."
    phases = ("build",)

    def look(self, sample: Sample, case: Case) -> Iterator[Finding]:
        """Look at one sample."""
        if "build_cold" not in sample.figures or sample.build is None:
            return
        if sample.build.cold and sample.build.cold_proof:
            return
        why = "its caches were not empty" if not sample.build.cold else "nothing proves that its caches were empty"
        yield self.finding(
            f"the cold build is not one: {why}",
            sample=sample,
            figures=["build_cold", "build_cpu", "build_memory_peak"],
            evidence=sample.build.model_dump(mode="json"),
        )
