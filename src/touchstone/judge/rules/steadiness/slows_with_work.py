"""Rule: each request cost more CPU than the ones before it."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping

from touchstone.judge.figures import CPU, SPEED
from touchstone.judge.judgement import Doubt, Finding, Severity
from touchstone.judge.language.quantity import share
from touchstone.judge.reading.case import Case, Group
from touchstone.judge.rule import RunRule
from touchstone.judge.statistics.trend import Rise, rise
from touchstone.record.sample import Sample

FIRST = 1 / 3
"""The share of the turns, at the beginning, in which caches fill and a compiler has not done its work."""


class SlowsWithWork(RunRule):
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
        "rose by for the contender in the middle; in half of the rounds with enough turns, and in two of "
        "two or more rounds"
    )
    threshold_reason = (
        "a busy machine moves CPU per request by a few percent, and for all contenders alike; of a hundred sound ones "
        "on such a machine the lower end was never above 1.5 %"
    )
    next_step = (
        "Look at what grows with the requests: tables without an index, lists, caches, logs; measure longer to see "
        "where it ends."
    )

    def look(self, case: Case) -> Iterator[Finding]:
        """Look at the run."""
        loaded = [sample for sample in case.run.samples if sample.phase == "load"]
        rises = {sample.id: (sample, found) for sample in loaded if (found := _rise(sample)) is not None}
        for group in case.groups_of("load"):
            yield from self._of(group, rises, case)

    def _of(self, group: Group, rises: Mapping[str, tuple[Sample, Rise]], case: Case) -> Iterator[Finding]:
        seen = [rises[sample.id] for sample in group.samples if sample.id in rises]
        hits = {
            sample.id: found.share
            for sample, found in seen
            if found.low - max(0.0, _usual(sample, rises)) > case.margin
        }
        if not hits or len(hits) < max(min(2, len(group.samples)), len(seen) / 2):
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


def _usual(sample: Sample, rises: Mapping[str, tuple[Sample, Rise]]) -> float:
    """The rise of the contender in the middle, under the same load in the same round: what the machine did to all."""
    others = [
        found.share
        for other, found in rises.values()
        if (other.load, other.round) == (sample.load, sample.round) and other.id != sample.id
    ]
    return statistics.median(others) if others else 0.0
