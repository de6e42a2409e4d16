"""Rule: each request cost more CPU than the ones before it."""

from __future__ import annotations

import statistics
from collections.abc import Iterator

from touchstone.judge.figures import CPU, SPEED
from touchstone.judge.judgement import Doubt, Finding, Severity
from touchstone.judge.language.quantity import share
from touchstone.judge.reading.case import Case, Group
from touchstone.judge.rule import GroupRule
from touchstone.judge.statistics.trend import Rise, rise
from touchstone.record.sample import Sample

FIRST = 1 / 3
"""The share of the turns, at the beginning, in which caches fill and a compiler has not done its work."""


class SlowsWithWork(GroupRule):
    """A table that is searched from its beginning, a list that grows, a log that is read: the more it has served, the
    slower it is.

    Windows of seconds are too short to see it in a rate, which other processes move as well. The CPU that a turn's
    requests took is the service's own.
    """

    code = "slows-with-work"
    severity = Severity.SUSPECT
    title = "Each request cost more than the ones before"
    threshold = (
        "loads in slices: CPU per request over the last two thirds of all turns, warm-up included, rises with the "
        "number of requests (Theil-Sen) by more than the margin at the lower end of its 95 % interval, beyond what it "
        "rose by for the contender in the middle; in half of the rounds or more, and in two where there are two"
    )
    threshold_reason = (
        "a busy machine moves CPU per request by a few percent, and for all contenders alike; of a hundred sound ones "
        "on such a machine the lower end was never above 1.5 %"
    )
    next_step = (
        "Look at what grows with the requests: tables without an index, lists, caches, logs; measure longer to see "
        "where it ends."
    )
    phases = ("load",)

    def look(self, group: Group, case: Case) -> Iterator[Finding]:
        """Look at one group."""
        seen = {s.id: (s, found) for s in group.samples if (found := _rise(s)) is not None}
        hits = {
            name: found.share
            for name, (sample, found) in seen.items()
            if found.low - max(0.0, _usual(sample, case)) > case.margin
        }
        if not hits or len(hits) < max(min(2, len(seen)), len(seen) / 2):
            return
        most = max(hits.values())
        yield self.finding(
            f"CPU per request rose by {share(statistics.median(hits.values()))} over the last two thirds of its turns, "
            f"in {len(hits)} of {len(seen)} round(s)",
            group=group,
            figures=[*SPEED, *CPU],
            doubt=Doubt(faster=1 + most, slower=None, reason="it goes on with every further request"),
            evidence={"rises": hits},
        )


def _rise(sample: Sample) -> Rise | None:
    """Over the turns of a sample, by the requests that had been answered; None where nobody watched the process."""
    turns = sample.slices.slices if sample.slices else []
    answered, series = 0, []
    for turn in turns:
        answered += turn.completed
        if turn.server_cpu_s and turn.completed:
            series.append((float(answered), turn.server_cpu_s / turn.completed))
    return rise(series[int(len(series) * FIRST) :])


def _usual(sample: Sample, case: Case) -> float:
    """The rise of the contender in the middle, under the same load in the same round: what the machine did to all."""
    others = [
        found.share
        for other in case.run.samples
        if (other.phase, other.load, other.round) == (sample.phase, sample.load, sample.round)
        and other.id != sample.id
        and (found := _rise(other)) is not None
    ]
    return statistics.median(others) if others else 0.0
