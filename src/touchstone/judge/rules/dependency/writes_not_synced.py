"""Rule: what was written to an embedded database was not written through to the disk."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.judge.figures import CPU, SPEED
from touchstone.judge.judgement import Finding, Severity
from touchstone.judge.language.quantity import share
from touchstone.judge.reading.case import Case
from touchstone.judge.rule import RunRule
from touchstone.record.sample import TARE, DependencyState, Sample

NEVER = 0.98
SEEN = 0.95
LOOKS = {"database": 30, "log": 80}


class WritesNotSynced(RunRule):
    """How durably SQLite writes is a setting of each connection, which nobody can ask for from outside.

    What can be seen from outside is whether changed pages wait for the disk: a service that has them written through
    leaves none again and again, one that does not leaves them all to the kernel.
    """

    code = "writes-not-synced"
    severity = Severity.SUSPECT
    title = "Writes were not written through to the disk"
    threshold = (
        "at least 30 looks at a database and 80 at its log while they changed, and changes that waited for the disk in "
        "more than 98 % of both, where the scenario asks for `synchronous` (any but OFF) or another contender under "
        "the same load leaves some in less than 95 %; with FULL or EXTRA the same of the log alone"
    )
    threshold_reason = (
        "with NORMAL every checkpoint syncs the log, and a whole one the database; a look that falls into a sync, or "
        "after it, sees no page that only waits. In eleven records of services that sync, changes waited in 79 to 92 % "
        "of the looks at either file; in six of services that do not, in every one of 36 to 209. The kernel writes by "
        "itself once in half a minute, which the 98 % leave room for. Eighty looks that all find changes waiting come "
        "about by chance once in some thousands of records"
    )
    next_step = "Set `PRAGMA synchronous` as the scenario says in every connection of the contender named."

    def look(self, case: Case) -> Iterator[Finding]:
        """Look at the run."""
        seen = [
            (sample, state)
            for sample in case.run.samples
            if sample.phase == "load" and sample.contender != TARE
            for state in sample.dependencies
            if state.written
        ]
        for sample, state in seen:
            others = [s for o, s in seen if o.load == sample.load and s.name == state.name and s is not state]
            level = str(state.asked.get("synchronous", "off")).lower()
            never = {file for file in ("database", "log") if (_waited(state, file) or 0.0) > NEVER}
            each_commit = level in ("full", "extra") and "log" in never
            if each_commit or (len(never) == 2 and (level != "off" or any(map(_syncs, others)))):
                yield self._finding(sample, state)

    def _finding(self, sample: Sample, state: DependencyState) -> Finding:
        told = ", ".join(
            f"of its {file} in {share(one.waiting / one.looks)} of {one.looks} looks"
            for file, one in sorted(state.written.items())
            if one.looks
        )
        return self.finding(
            f"changes of {state.name} waited for the disk, and nobody had asked it to take them: {told}",
            sample=sample,
            figures=[*SPEED, *CPU],
            evidence={
                "written": {file: one.model_dump() for file, one in state.written.items()},
                "asked": state.asked.get("synchronous"),
            },
        )


def _waited(state: DependencyState, file: str) -> float | None:
    """The share of looks at a changing file at which its changes waited; None of too few."""
    one = state.written.get(file)
    return None if one is None or one.looks < LOOKS[file] else one.waiting / one.looks


def _syncs(state: DependencyState) -> bool:
    """Whether a contender was seen to have its changes written through."""
    shares = [share for file in ("database", "log") if (share := _waited(state, file)) is not None]
    return bool(shares) and min(shares) < SEEN
