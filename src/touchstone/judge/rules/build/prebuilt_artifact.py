"""Rule: the build left what was there before it."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.judge.judgement import Finding, Severity
from touchstone.judge.reading.case import Case
from touchstone.judge.rule import SampleRule
from touchstone.record.sample import Sample


class PrebuiltArtifact(SampleRule):
    """A build that copies a finished program is the fastest of all, and builds nothing."""

    code = "prebuilt-artifact"
    severity = Severity.INVALID
    title = "The build left what was there before it"
    threshold = "an executable, a jar or a class among the artifacts that is, byte for byte, a file of the sources"
    threshold_reason = (
        "a compiler does not leave a file that was there before, unless the program was compiled elsewhere"
    )
    next_step = "Build from the sources, or leave the build's time out: give the variant no `build`."
    phases = ("build",)

    def look(self, sample: Sample, case: Case) -> Iterator[Finding]:
        """Look at one sample."""
        found = sample.build.prebuilt if sample.build else []
        if found:
            yield self.finding(
                f"{', '.join(found)} lay finished among the sources",
                sample=sample,
                figures=["build_cold", "build_warm", "build_cpu", "build_memory_peak"],
                evidence={"artifacts": found},
            )
