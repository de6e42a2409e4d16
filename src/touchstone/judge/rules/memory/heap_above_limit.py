"""Rule: the heap may grow beyond the memory limit."""

from __future__ import annotations

import re
from collections.abc import Iterator

from touchstone.judge.judgement import Finding, Severity
from touchstone.judge.language.quantity import size
from touchstone.judge.reading.case import Case
from touchstone.judge.rule import SampleRule
from touchstone.record.sample import Sample

UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
XMX = re.compile(r"-Xmx(\d+)([kmgtKMGT]?)")
OLD_SPACE = re.compile(r"--max[-_]old[-_]space[-_]size=(\d+)")
GO = re.compile(r"(\d+)(?:([KMGT])i)?B?")


class HeapAboveLimit(SampleRule):
    """A runtime that believes in more memory than it has does not collect in time.

    It is killed, or it swaps.
    """

    code = "heap-above-limit"
    severity = Severity.SUSPECT
    title = "The heap may grow beyond the memory limit"
    threshold = "a heap flag (-Xmx, --max-old-space-size, GOMEMLIMIT) above the memory limit that was set"
    threshold_reason = (
        "apart from the heap a runtime needs stacks, code and buffers, so that already an equal value is too much; "
        "only what is certainly wrong fires"
    )
    next_step = "Set the heap well below the limit, or let the runtime take it from the cgroup."
    phases = None

    def look(self, sample: Sample, case: Case) -> Iterator[Finding]:
        """Look at one sample."""
        limit = sample.placement.memory_limit
        if not limit:
            return
        for where, text in [("argv", " ".join(sample.argv)), *sample.env.items()]:
            for flag, heap in _heaps(where, text):
                if heap > limit:
                    yield self.finding(
                        f"{flag} allows a heap of {size(heap)} under a limit of {size(limit)}",
                        sample=sample,
                        evidence={"flag": flag, "where": where, "heap": heap, "limit": limit},
                    )


def _heaps(where: str, text: str) -> Iterator[tuple[str, int]]:
    """Heap flags in a command line or an environment variable, in bytes."""
    for match in XMX.finditer(text):
        yield match[0], int(match[1]) * UNITS[match[2].lower()]
    for match in OLD_SPACE.finditer(text):
        yield match[0], int(match[1]) << 20
    if where == "GOMEMLIMIT" and (found := GO.fullmatch(text)):
        yield f"GOMEMLIMIT={text}", int(found[1]) * UNITS[(found[2] or "").lower()]
