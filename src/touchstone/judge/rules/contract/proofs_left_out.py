"""Rule: what was done could not be proven."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.judge.judgement import Finding, Severity
from touchstone.judge.reading.case import Case
from touchstone.judge.rule import RunRule

_TOLD = 3


class ProofsLeftOut(RunRule):
    """Of a service that the lab did not start it knows the answers alone.

    Whether rows were written, and under which settings, is for whoever started it to say.
    """

    code = "proofs-left-out"
    severity = Severity.NOTE
    title = "Part of the contract could not be held against it"
    threshold = "any check, proof, preparation or setting that a sample says was left out"
    threshold_reason = "a plain fact of how it was run; its answers were checked like everybody's"
    next_step = "Ask the service's own database after the run, or add it as a stack, and the lab asks."

    def look(self, case: Case) -> Iterator[Finding]:
        """Look at each contender's samples together: what was left out once was left out in each round."""
        left_out: dict[str, dict[str, None]] = {}
        for sample in case.run.samples:
            if sample.left_out:
                left_out.setdefault(sample.contender, {}).update(dict.fromkeys(sample.left_out))
        for contender, found in left_out.items():
            told = list(found)
            more = f"; and {len(told) - _TOLD} more" if len(told) > _TOLD else ""
            yield self.finding(
                f"left out for {contender}: {'; '.join(told[:_TOLD])}{more}",
                contender=contender,
                evidence={"left_out": told},
            )
