"""Rule: one contender logs its requests, and another does not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from touchstone.judge.figures import CPU, SPEED
from touchstone.judge.judgement import Doubt, Finding, Severity
from touchstone.judge.language.quantity import number
from touchstone.judge.reading.apart import apart
from touchstone.judge.reading.case import Case, Group
from touchstone.judge.rule import RunRule

BYTES = 8
TIMES = 10
START = 32 << 10
"""What a framework may say at its start and its end."""
COST = "what a line costs depends on who writes it"


class LogsUnequal(RunRule):
    """A line for each request is made, and written, on the CPU that serves it.

    Which frameworks write one unless they are told not to is chance, and no difference between them.
    """

    code = "logs-unequal"
    severity = Severity.SUSPECT
    title = "One contender logs its requests, and another does not"
    threshold = (
        "bytes per response written to standard output and error, or appended to files that are open for nothing else, "
        "over all loads of a process and beyond 32 KiB: 8 or more, and ten times what another one writes; where most "
        "contenders agree, only those who differ are named"
    )
    threshold_reason = (
        "a line of an access log has some 80 bytes, so that 8 are a line for every tenth response; frameworks say some "
        "KiB at their start; who logs might be any number of times faster without it, and no slower"
    )
    next_step = "Switch the access log off for all of them, or on, as it is where the service is deployed."

    def look(self, case: Case) -> Iterator[Finding]:
        """Look at the run."""
        groups: dict[str, list[Group]] = {}
        for group in case.groups_of("load"):
            groups.setdefault(group.contender, []).append(group)
        written = {name: per for name, own in groups.items() if (per := bytes_per_response(own)) is not None}
        for pair in apart(written, lambda small, large: large >= max(BYTES, TIMES * small)):
            quiet_is_odd = pair.odd == pair.low
            yield self.finding(
                f"{pair.high} wrote {number(written[pair.high])} bytes of log per response, "
                f"{pair.low} {number(written[pair.low])}",
                contender=pair.low if quiet_is_odd else pair.high,
                figures=[*SPEED, *CPU],
                doubt=Doubt(slower=None, reason=COST) if quiet_is_odd else Doubt(faster=None, reason=COST),
                evidence={"bytes_per_response": written},
            )


def bytes_per_response(groups: Sequence[Group]) -> float | None:
    """Bytes of log per response over all processes of a contender; None where nothing was answered or nobody looked.

    A process that served several loads has one log, of which each of their samples tells the whole.
    """
    sizes: dict[str, int] = {}
    answered = 0
    for sample in (sample for group in groups for sample in group.samples):
        log = sample.files.get("log")
        if sample.result is None or sample.log_bytes is None or log is None:
            continue
        sizes[log] = max(0, sample.log_bytes + sample.log_file_bytes - START)
        answered += max(sample.result.totals.completed, sample.result.counts.completed)
    return sum(sizes.values()) / answered if answered else None
