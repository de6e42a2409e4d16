"""Rule: memory grew to the end in every round."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.judge.figures import MEMORY
from touchstone.judge.judgement import Finding, Severity
from touchstone.judge.language.quantity import size
from touchstone.judge.reading.case import Case, Group
from touchstone.judge.rule import GroupRule
from touchstone.judge.statistics.trend import grows

SHARE = 0.25
LEAST = 32 << 20
SHORTEST_S = 5.0
ENOUGH_S = 30.0


class MemoryGrows(GroupRule):
    """A peak that depends on how long the load lasted is no figure of the service.

    A leak is not seen in it.
    """

    code = "memory-grows"
    severity = Severity.SUSPECT
    title = "Memory grew to the end in every round"
    threshold = (
        "in every round anonymous memory (or RSS) still climbs in a straight line when the load ends, by more "
        "than a quarter and 32 MiB over its second half: suspect if the window is at least 30 s, otherwise a note"
    )
    threshold_reason = (
        "a collected heap falls or settles once it has reached its size, which may take tens of seconds; a leak "
        "does neither, and does so every time"
    )
    next_step = "Run the load for minutes (`--thorough`) and watch memory after idle; take a heap dump if it goes on."
    # Memory grows from nothing after exec.
    phases = ("load",)

    def look(self, group: Group, case: Case) -> Iterator[Finding]:
        """Look at one group."""
        rates: list[float] = []
        window = 0.0
        for sample in group.samples:
            watch = sample.result.watch if sample.result else None
            if sample.result is None or watch is None:
                continue
            window = max(window, sample.result.window.measured_s)
            series = [
                (p.t, float(p.anon or p.rss or 0)) for p in watch.series if p.phase == "load" and (p.anon or p.rss)
            ]
            if not series:
                continue
            middle = series[len(series) // 2][1]
            rate = grows(series, least=max(LEAST, SHARE * middle))
            if rate is None:
                return
            rates.append(rate)
        if rates and window >= SHORTEST_S:
            yield self.finding(
                f"memory grew by {size(min(rates))} a second or more at the end of the load in all {len(rates)} "
                f"round(s)",
                severity=Severity.SUSPECT if window >= ENOUGH_S else Severity.NOTE,
                group=group,
                figures=MEMORY,
                evidence={"bytes_a_second": rates, "window_s": window},
            )
