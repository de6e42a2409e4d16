"""Rule: the service logs each request."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.judge.figures import CPU, SPEED
from touchstone.judge.judgement import Finding, Severity
from touchstone.judge.language.quantity import number
from touchstone.judge.reading.case import Case, Group
from touchstone.judge.rule import RunRule
from touchstone.judge.rules.traffic.logs_unequal import BYTES, bytes_per_response


class LogsEachRequest(RunRule):
    """An access log is part of what a request costs, and often a large one.

    Nothing in a rate shows it. A reader who deploys the service without the log should know that it was on.
    """

    code = "logs-each-request"
    severity = Severity.NOTE
    title = "The service logs each request"
    threshold = (
        f"{BYTES} bytes and more of log per response, beyond 32 KiB, on standard output and error or appended to files "
        "that are open for nothing else; whether contenders differ in it is for `logs-unequal`"
    )
    threshold_reason = "a line of an access log has some 80 bytes: 8 are a line for every tenth response"
    next_step = "Leave the log on if the service is deployed with it; otherwise switch it off and measure again."

    def look(self, case: Case) -> Iterator[Finding]:
        """Look at each contender of the run."""
        groups: dict[str, list[Group]] = {}
        for group in case.groups_of("load"):
            groups.setdefault(group.contender, []).append(group)
        for contender, own in groups.items():
            each = bytes_per_response(own)
            if each is not None and each >= BYTES:
                yield self.finding(
                    f"it wrote {number(each)} bytes of log per response",
                    contender=contender,
                    figures=[*SPEED, *CPU],
                    evidence={"bytes_per_response": each},
                )
