"""Rule: a tool is a snapshot."""

from __future__ import annotations

import re
from collections.abc import Iterator

from touchstone.judge.judgement import Finding, Severity
from touchstone.judge.reading.case import Case
from touchstone.judge.rule import RunRule

UNFIXED = re.compile(r"snapshot|nightly|[-+.]dev|alpha|beta|-rc", re.IGNORECASE)


class SnapshotVersions(RunRule):
    """A snapshot or nightly build of today is not the one of tomorrow.

    Nobody can measure it again.
    """

    code = "snapshot-versions"
    severity = Severity.NOTE
    title = "A tool is a snapshot"
    threshold = "a tool's version that says snapshot, nightly, dev, alpha, beta or rc"
    threshold_reason = "the version names itself so; it may be right to use one, so it is a note"
    next_step = "Use a released version, or keep the tool with the results."

    def look(self, case: Case) -> Iterator[Finding]:
        """Look at the run."""
        for contender in case.run.plan.contenders:
            for tool, version in contender.tools.items():
                if UNFIXED.search(version):
                    yield self.finding(f"{tool} is {version}", contender=contender.name, evidence={tool: version})
