"""Turns of contenders that were loaded together: one after the other, in the order that the seed gives."""

from __future__ import annotations

import itertools
import random
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from touchstone.plan.laps import balanced_laps
from touchstone.record.run import Run
from touchstone.record.sample import Sample

_Turn = tuple[float, float, int | None, str]
"""Begin, end, lap, contender."""


def turn_contradictions(run: Run) -> Iterator[str]:
    """Everything in the turns of a round that contradicts something else in them."""
    sessions: dict[tuple[int, str], dict[str, Sample]] = defaultdict(dict)
    for sample in run.samples:
        if sample.slices is not None and sample.phase == "load" and sample.load and sample.round:
            sessions[sample.round, sample.load][sample.contender] = sample
    for (number, load), samples in sessions.items():
        place = f"round {number}, {load}"
        orders = {tuple(sample.slices.order) for sample in samples.values() if sample.slices and sample.slices.slices}
        if len(orders) > 1:
            yield f"{place}: samples name different contenders of one session"
        turns = sorted(
            (one.begin, one.end, one.lap, name)
            for name, sample in samples.items()
            for one in (sample.slices.slices if sample.slices else [])
        )
        for before, after in itertools.pairwise(turns):
            if after[0] < before[1] - 1e-6:
                yield f"{place}: a turn of {after[3]} began before that of {before[3]} had ended"
                break
        if len(orders) == 1 and turns:
            yield from _laps(run, place, f"{load}-{number}", next(iter(orders)), turns)
        yield from _indices(place, samples)


def _laps(run: Run, place: str, seed: str, order: Sequence[str], turns: Sequence[_Turn]) -> Iterator[str]:
    """Each contender has one turn in each lap, in the order that was drawn."""
    by_lap: dict[int, list[str]] = defaultdict(list)
    for _, _, lap, name in turns:
        if lap is not None:
            by_lap[lap].append(name)
    if not by_lap:
        return
    if sorted(by_lap) != list(range(max(by_lap) + 1)):
        yield f"{place}: laps are missing"
    laps = max(by_lap) + 1
    drawn = balanced_laps(len(order), laps, random.Random(f"{run.plan.seed}-{seed}"))
    departs = any(_departs(by_lap, [order[i] for i in row], lap) for lap, row in enumerate(drawn))
    if departs and not _as_designed(by_lap, order, laps):
        yield f"{place}: its turns are not in the order that the seed {run.plan.seed} gives"


def _departs(by_lap: Mapping[int, Sequence[str]], wanted: Sequence[str], lap: int) -> bool:
    """Whether a lap departs from the order in which it should be."""
    had = by_lap.get(lap, [])
    return list(had) != [name for name in wanted if name in had]


def _as_designed(by_lap: Mapping[int, Sequence[str]], order: Sequence[str], laps: int) -> bool:
    """Whether laps follow the rows of a Williams design in turn, as earlier versions laid them."""
    count = len(order)
    zigzag = [0]
    for step in range(1, count):
        zigzag.append((step + 1) // 2 if step % 2 else count - step // 2)
    rows = [[(place + shift) % count for place in zigzag] for shift in range(count)]
    rows = rows if count % 2 == 0 else rows + [row[::-1] for row in rows]
    return any(
        not any(_departs(by_lap, [order[i] for i in rows[(start + lap) % len(rows)]], lap) for lap in range(laps))
        for start in range(len(rows))
    )


def _indices(place: str, samples: Mapping[str, Sample]) -> Iterator[str]:
    """The engine numbers the turns of a session: each number is of one turn."""
    numbers = [one.index for sample in samples.values() if sample.slices for one in sample.slices.slices]
    if len(set(numbers)) != len(numbers):
        yield f"{place}: two turns have one number"
    elif numbers and sorted(numbers) != list(range(min(numbers), min(numbers) + len(numbers))):
        yield f"{place}: turns are missing"
