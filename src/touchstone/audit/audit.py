"""A publication in, an audit out: by entry, by cause, and what the ranks are worth."""

from __future__ import annotations

import math
import statistics
from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from itertools import pairwise

from touchstone.audit.checks import Fault, faults, not_applied
from touchstone.audit.formats.load_tools import ONCE
from touchstone.audit.published import Publication, PublishedResult
from touchstone.judge.statistics.decision import Interval
from touchstone.judge.statistics.intervals import ratio_interval

NOISE = 0.05
"""Assumed of a rate whose spread is not published: runs on rented machines scatter by 2.7 % (standard deviation), so
two that differ by less than 5 % are as likely to change places as not."""


@dataclass(frozen=True)
class RankTrust:
    """How far the order of a test can be trusted."""

    test: str
    entries: int
    within_noise: int
    """Neighbours, of `entries` - 1 pairs, that differ by less than the noise."""


@dataclass(frozen=True)
class RepeatedLoad:
    """A load that was measured several times: a series, whose spread is known and not assumed."""

    test: str
    runs: int
    rate: Interval
    """The mean of the logarithms with its 95 % interval, as a rate."""
    scatter: float
    """The standard deviation of the logarithms, as a share."""


@dataclass(frozen=True)
class Audit:
    """What was found."""

    publication: Publication
    noise: float
    by_entry: list[tuple[PublishedResult, list[Fault]]]
    ranks: list[RankTrust]
    not_applied: list[tuple[str, int, str]]
    """Checks that could not be applied: which, to how many results, and why."""
    repeated: RepeatedLoad | None = None
    """What several files of one load say together."""

    @property
    def by_cause(self) -> list[tuple[str, int, str]]:
        """Each code with the number of results that it concerns and an example. The most frequent first."""
        found: dict[str, list[str]] = defaultdict(list)
        for result, wrong in self.by_entry:
            for fault in wrong:
                found[fault.code].append(f"{result.entry}, {result.test}: {fault.statement}")
            for code, statement in result.causes:
                found[code].append(statement)
        return sorted(
            ((code, len(statements), statements[0]) for code, statements in found.items()), key=lambda c: (-c[1], c[0])
        )


def audit(publication: Publication, noise: float = NOISE, *, files: int = 1) -> Audit:
    """Apply every check.

    Args:
        publication: what was read.
        noise: the share by which a rate is taken to scatter, where no series tells it.
        files: from how many files it was read; if each holds one result of one test, they are its repetitions, and
            so are results of one file that state the same load.

    """
    results = publication.results
    stated = all(result.load for result in results)
    repeated = _repeated(results) if len(results) > 1 and (stated or files == len(results)) else None
    if repeated is not None:
        results = [replace(r, causes=tuple(cause for cause in r.causes if cause != ONCE)) for r in results]
    copies = _copies(results)
    return Audit(
        publication=Publication(results, publication.left_out),
        noise=noise,
        by_entry=[(r, faults(r) + ([copies[i]] if i in copies else [])) for i, r in enumerate(results)],
        ranks=_ranks(results, noise) if repeated is None else [],
        not_applied=_not_applied(results),
        repeated=repeated,
    )


def _repeated(results: list[PublishedResult]) -> RepeatedLoad | None:
    rates = [math.log(rate) for result in results if (rate := result.measured_rate)]
    if len({(result.tool, result.test, result.load) for result in results}) != 1 or len(rates) != len(results):
        return None
    interval = ratio_interval(rates, 0.95)
    if interval is None:
        return None
    return RepeatedLoad(results[0].test, len(rates), interval, statistics.stdev(rates))


def _not_applied(results: list[PublishedResult]) -> list[tuple[str, int, str]]:
    counts = Counter(pair for result in results for pair in not_applied(result))
    return [(check, count, reason) for (check, reason), count in counts.items()]


def _copies(results: list[PublishedResult]) -> dict[int, Fault]:
    """Results that equal another entry of the same test in every figure and digit.

    Where a rate was offered, sound entries may well have the same few digits.
    """
    seen: dict[tuple[object, ...], str] = {}
    found = {}
    for place, r in enumerate(results):
        if not r.closed or r.measured_rate is None or r.mean_s is None:
            continue
        figures = (
            r.tool,
            r.test,
            r.connections,
            r.rate,
            r.duration_s,
            r.answered,
            r.mean_s,
            *sorted(r.percentiles.items()),
        )
        figures = (*figures, r.max_s, r.cpus, r.cpu_s)
        if figures in seen and seen[figures] != r.entry:
            statement = f"all its figures are those of {seen[figures]}, to the last digit: one is a copy of the other"
            found[place] = Fault("figures-copied", statement)
        seen.setdefault(figures, r.entry)
    return found


def _ranks(results: list[PublishedResult], noise: float) -> list[RankTrust]:
    rates: dict[tuple[str, str], list[float]] = defaultdict(list)
    for result in results:
        # Where a rate was offered and reached, rates say nothing: all are equal on purpose.
        if (rate := result.measured_rate) and result.closed and result.ranked:
            rates[result.tool, result.test].append(rate)
    made = []
    for (_, test), found in rates.items():
        ordered = sorted(found, reverse=True)
        if len(ordered) > 1:
            close = sum(high / low - 1 < noise for high, low in pairwise(ordered))
            made.append(RankTrust(test, len(ordered), close))
    return made
