"""Rule: memory grew to the end in every round."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.judge.figures import MEMORY
from touchstone.judge.judgement import Doubt, Finding, Severity
from touchstone.judge.language.quantity import size
from touchstone.judge.reading.case import Case, Group
from touchstone.judge.reading.growth import under_load
from touchstone.judge.rule import GroupRule
from touchstone.judge.statistics.trend import grows
from touchstone.record.sample import Sample

SHARE = 0.25
LEAST = 4 << 20
MUCH = 32 << 20
SHORTEST_S = 2.5
"""A quick run loads a native server for some 3.5 s, its warm-up included."""
ENOUGH_S = 30.0


class MemoryGrows(GroupRule):
    """A peak that depends on how long the load lasted is no figure of the service.

    A leak is not seen in it.
    """

    code = "memory-grows"
    severity = Severity.SUSPECT
    title = "Memory grew to the end in every round"
    threshold = (
        "in every round anonymous memory (or RSS) still climbs in a straight line when the load ends, by more than a "
        "quarter and 4 MiB over the second half of it and its warm-up: suspect if it gained 32 MiB and both together "
        "took 30 s, otherwise a note"
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
        gains: list[float] = []
        loaded_s = 0.0
        for sample in group.samples:
            series = _memory(sample)
            if not series:
                continue
            loaded_s = max(loaded_s, series[-1][0])
            middle = series[len(series) // 2][1]
            rate = grows(series, least=max(LEAST, SHARE * middle))
            if rate is None:
                return
            rates.append(rate)
            gains.append(series[-1][1] - middle)
        if rates and loaded_s >= SHORTEST_S:
            much = loaded_s >= ENOUGH_S and min(gains) > MUCH
            yield self.finding(
                f"memory grew by {size(min(rates))} a second or more at the end of the load in all {len(rates)} "
                f"round(s)",
                severity=Severity.SUSPECT if much else Severity.NOTE,
                group=group,
                figures=MEMORY,
                doubt=Doubt(slower=None, reason="it goes on for as long as the load does") if much else None,
                evidence={"bytes_a_second": rates, "loaded_s": loaded_s},
            )


def _memory(sample: Sample) -> list[tuple[float, float]]:
    """Anonymous memory where each look has it, otherwise RSS: of the two in turn nothing could be told."""
    rss, anon = under_load(sample, lambda point: point.rss), under_load(sample, lambda point: point.anon)
    return anon if len(anon) == len(rss) else rss
