"""Rule: state of an earlier run was there."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.judge.judgement import Finding, Severity
from touchstone.judge.reading.case import Case
from touchstone.judge.rule import SampleRule
from touchstone.record.sample import Sample

_ANEW = (
    "Let the service write elsewhere: below /tmp, which each start has for itself where a mount namespace is "
    "permitted, or to a dependency of the scenario. `--fresh-builds` makes the work folder anew."
)


class Leftovers(SampleRule):
    """Rows, sessions or offsets from before make inserts fail and lookups cheap."""

    code = "leftovers"
    severity = Severity.SUSPECT
    title = "State of an earlier run was there"
    threshold = (
        "anything that the dependency found before the contender started and that should not have been there, or a "
        "file of the work folder that an earlier start has changed; a note for a new file there, which is removed"
    )
    threshold_reason = (
        "each contender starts on fresh state; what is listed was seen and removed, and may not be all; a changed file "
        "cannot be put back"
    )
    next_step = "See who left it: a server that was not stopped, or another run at the same time."
    phases = None

    def look(self, sample: Sample, case: Case) -> Iterator[Finding]:
        """Look at one sample."""
        for dependency in sample.dependencies:
            if dependency.leftovers:
                yield self.finding(
                    f"{dependency.name} was not empty: {'; '.join(dependency.leftovers[:3])}",
                    sample=sample,
                    evidence={"leftovers": dependency.leftovers},
                )
        for what, files in (("removed", sample.left_in_work.removed), ("changed", sample.left_in_work.changed)):
            if not files:
                continue
            changed = what == "changed"
            yield self.finding(
                f"an earlier start had {'changed' if changed else 'left'} {', '.join(files[:3])} in the work folder"
                + ("" if changed else ", and the lab removed it"),
                severity=Severity.SUSPECT if changed else Severity.NOTE,
                sample=sample,
                evidence={what: files},
                next_step=_ANEW if changed else None,
            )
