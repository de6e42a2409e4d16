"""A publication in, an audit out: by entry, by cause, and what the ranks are worth."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from itertools import pairwise

from touchstone.audit.checks import Fault, faults
from touchstone.audit.published import Publication, Published

NOISE = 0.05
"""Assumed of a rate whose spread is not published: runs on rented machines scatter by 2.7 % (standard deviation), so
two that differ by less than 5 % are as likely to change places as not."""


@dataclass(frozen=True)
class Ranks:
    """How far the order of a test can be trusted."""

    test: str
    entries: int
    within_noise: int
    """Neighbours, of `entries` - 1 pairs, that differ by less than the noise."""


@dataclass(frozen=True)
class Audit:
    """What was found."""

    publication: Publication
    noise: float
    by_entry: list[tuple[Published, list[Fault]]]
    ranks: list[Ranks]

    @property
    def by_cause(self) -> list[tuple[str, int, str]]:
        """Each code with the number of results that it concerns and an example; the most frequent first."""
        found: dict[str, list[str]] = defaultdict(list)
        for result, wrong in self.by_entry:
            for fault in wrong:
                found[fault.code].append(f"{result.entry}, {result.test}: {fault.statement}")
        for code, statement in self.publication.of_all:
            found[code] = [statement] * len(self.by_entry)
        return sorted(((code, len(told), told[0]) for code, told in found.items()), key=lambda c: (-c[1], c[0]))


def audit(publication: Publication, noise: float = NOISE) -> Audit:
    """Apply every check. `noise`: the share by which a rate is taken to scatter."""
    return Audit(
        publication=publication,
        noise=noise,
        by_entry=[(result, faults(result)) for result in publication.results],
        ranks=_ranks(publication.results, noise),
    )


def _ranks(results: list[Published], noise: float) -> list[Ranks]:
    rates: dict[str, list[float]] = defaultdict(list)
    for result in results:
        # Where a rate was offered and reached, rates say nothing: all are equal on purpose.
        if result.rate and result.offered is None:
            rates[result.test].append(result.rate)
    made = []
    for test, found in rates.items():
        ordered = sorted(found, reverse=True)
        if len(ordered) > 1:
            close = sum(high / low - 1 < noise for high, low in pairwise(ordered))
            made.append(Ranks(test, len(ordered), close))
    return made
