"""Rule: the program was not the same throughout."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from touchstone.judge.judgement import Finding, Severity
from touchstone.judge.reading.case import Case
from touchstone.judge.rule import RunRule


class ArtifactChanged(RunRule):
    """A comparison is of one program with another. A contender whose files change between rounds is several."""

    code = "artifact-changed"
    severity = Severity.INVALID
    title = "The program was not the same throughout"
    threshold = "an artifact of a contender with more than one SHA-256 among the starts of a run"
    threshold_reason = "nothing writes to an artifact after the build: any difference is another program"
    next_step = "See what writes to the artifact: the program itself, or a build next to the run."
    own_failure = True

    def look(self, case: Case) -> Iterator[Finding]:
        """Look at the run."""
        found: dict[tuple[str, str], dict[str, str]] = defaultdict(dict)
        for sample in case.run.samples:
            if sample.phase == "build":
                # A training run, which goes by this name, too, adds to the artifacts.
                continue
            for name, digest in sample.artifacts.items():
                found[sample.contender, name].setdefault(digest, sample.id)
        for (contender, name), digests in found.items():
            if len(digests) > 1:
                yield self.finding(
                    f"{name} changed within the run: it was another one first in {', then in '.join(digests.values())}",
                    contender=contender,
                    evidence={"file": name, "first_seen": {sample: digest for digest, sample in digests.items()}},
                )
