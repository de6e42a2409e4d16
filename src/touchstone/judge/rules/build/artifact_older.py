"""Rule: what the build left is older than the build."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.judge.judgement import Finding, Severity
from touchstone.judge.reading.case import Case
from touchstone.judge.rule import SampleRule
from touchstone.record.sample import Sample

_SHOWN = 3


class ArtifactOlder(SampleRule):
    """A program that is copied in from outside with its times was compiled at another time, which nobody took."""

    code = "artifact-older"
    severity = Severity.INVALID
    title = "What the build left is older than the build"
    threshold = (
        "an executable, a jar or a class among what the cold build left that was last changed more than 1 s before "
        "the build began, and that no package manager's store holds as it is"
    )
    threshold_reason = (
        "a compiler gives its output the time at which it writes; the second is for file systems that round times"
    )
    next_step = (
        "Compile it in `build`. What is fetched finished, such as packages, belongs into `install`; a program that is "
        "not built at all needs no `build`."
    )
    phases = ("build",)

    def look(self, sample: Sample, case: Case) -> Iterator[Finding]:
        """Look at one sample."""
        older = sample.build.older if sample.build else []
        if older:
            others = f" and {len(older) - _SHOWN} more" if len(older) > _SHOWN else ""
            yield self.finding(
                f"{', '.join(older[:_SHOWN])}{others} had been compiled before the build began",
                sample=sample,
                figures=["build_cold", "build_warm", "build_cpu", "build_memory_peak"],
                evidence={"artifacts": older},
            )
