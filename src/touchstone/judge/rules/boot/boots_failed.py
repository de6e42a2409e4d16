"""Rule: some starts gave no correct response."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.judge.judgement import Finding, Severity
from touchstone.judge.reading.case import Case
from touchstone.judge.rule import SampleRule
from touchstone.record.sample import Sample

SHARE = 0.1


class BootsFailed(SampleRule):
    """A start that fails takes no part in the median.

    Leaving it out makes a service that starts by luck look like one that starts.
    """

    code = "boots-failed"
    severity = Severity.SUSPECT
    title = "Some starts gave no correct response"
    threshold = "any start that ended in a failure; invalid from a tenth of them on"
    threshold_reason = (
        "starts on an idle machine do not fail by chance; a tenth is more than the median could bear in a comparison"
    )
    next_step = "Read the evidence of the failed start and the boot log."
    phases = ("boot",)

    def look(self, sample: Sample, case: Case) -> Iterator[Finding]:
        """Look at one sample."""
        runs = sample.boot.runs if sample.boot else []
        failed = [r for r in runs if r.failure]
        if not failed or sample.failure is not None:
            return
        kinds = ", ".join(sorted({str(r.failure) for r in failed}))
        yield self.finding(
            f"{len(failed)} of {len(runs)} starts failed ({kinds})",
            severity=Severity.INVALID if len(failed) >= SHARE * len(runs) else Severity.SUSPECT,
            sample=sample,
            evidence={"runs": [r.model_dump(exclude_none=True) for r in failed[:3]]},
        )
