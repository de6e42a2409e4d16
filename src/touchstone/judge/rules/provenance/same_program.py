"""Rule: two contenders are one program."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from touchstone.judge.judgement import Finding, Severity
from touchstone.judge.reading.case import Case
from touchstone.judge.rule import RunRule

_PLACES = {"HOST", "PORT"}


class SameProgram(RunRule):
    """A difference between two contenders that are one program is noise, and a copy in a ranking counts double."""

    code = "same-program"
    severity = Severity.NOTE
    title = "Two contenders are one program"
    threshold = "the same artifacts by SHA-256, the same arguments and the same environment but for addresses"
    threshold_reason = "an A/A comparison does so on purpose, so it is a note"
    next_step = "Look whether one of the two was meant to be built or run in another way."

    def look(self, case: Case) -> Iterator[Finding]:
        """Look at the run."""
        known: dict[str, set[str]] = defaultdict(set)
        for group in case.groups_of("load"):
            sample = group.samples[0]
            if sample.artifacts:
                arguments = [Path(word).name for word in sample.argv]
                env = {name: value for name, value in sample.env.items() if name not in _PLACES and "/" not in value}
                known[repr((sorted(sample.artifacts.items()), arguments, sorted(env.items())))].add(group.contender)
        for contenders in known.values():
            if len(contenders) > 1:
                yield self.finding(
                    f"{' and '.join(sorted(contenders))} run the same program",
                    evidence={"contenders": sorted(contenders)},
                )
