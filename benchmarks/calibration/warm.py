"""When the warm-ups of recorded runs would have ended by the rule of today, and how warm the contenders then were.

`python -m benchmarks.calibration.warm RUN ... [--contender WORD]` replays them, offline. Printed by contender: the
seconds of load that were used and that the rule would use, and by how much CPU per request in the two seconds after its
end was above that of the process's last three seconds (the middle one, and that of the worst tenth). Apart from each
other stand warm-ups at whose end other contenders' turns show whether this one rested, and those in which it was alone.

`--blind` takes every contender for one at rest: what a flat stretch of two seconds is worth without that look.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from touchstone.engine.slices import TurnRecord
from touchstone.plan.preset import PROFILES
from touchstone.record.evidence.slices import WarmUp
from touchstone.record.run import Run
from touchstone.record.sample import TARE, Sample
from touchstone.record.store import load_run
from touchstone.traffic.warm_up import BUSY_WITHOUT_LOAD, cpu_without_load
from touchstone.traffic.warming import WarmingContender, WarmUpBudget

_LOOK = 2
"""Own turns after which the warm-up looks whether it is done."""
_AFTER, _LAST = 8, 12
"""Slices: right after the end, and the last of the process."""


@dataclass(frozen=True)
class Replay:
    """One warm-up by the rule; `above` is CPU per request after its end over the last known, less 1."""

    recorded_s: float
    seconds: float
    above: float | None
    seen: bool
    """Whether others had turns in the stretch before its end, so that it was seen to rest or not."""


def replays(run: Run, *, blind: bool) -> Iterator[tuple[str, Replay]]:
    """Each contender's warm-up of each sliced load, with its name."""
    loads: dict[tuple[int | None, str | None], list[Sample]] = defaultdict(list)
    for sample in run.samples:
        if sample.phase == "load" and sample.slices is not None:
            loads[sample.round, sample.load].append(sample)
    profile = PROFILES[run.plan.profile]
    firsts: dict[tuple[int | None, str], WarmUp] = {}
    for (number, _), samples in sorted(loads.items(), key=lambda item: min(s.id for s in item[1])):
        first = WarmUpBudget(profile.warm_least_s, profile.warm_most_s)
        turns = sorted((turn for sample in samples for turn in _turns(sample)), key=lambda turn: turn.begin)
        for sample in samples:
            warm_up = sample.slices.warm_up if sample.slices else None
            if sample.contender != TARE and warm_up is not None and warm_up.ended != "died":
                before = firsts.setdefault((number, sample.contender), warm_up)
                budget = first if before is warm_up else first.after(before)
                yield sample.contender, _replay(_place(sample), turns, budget, warm_up.seconds, blind=blind)


def _place(sample: Sample) -> int:
    assert sample.slices is not None  # callers have checked this
    return sample.slices.order.index(sample.contender)


def _turns(sample: Sample) -> list[TurnRecord]:
    evidence = sample.slices
    slices = evidence.slices if evidence else []
    return [TurnRecord(contender=_place(sample), **one.model_dump()) for one in slices]


def _replay(place: int, turns: Sequence[TurnRecord], budget: WarmUpBudget, recorded_s: float, *, blind: bool) -> Replay:
    warming, own, seen, since = WarmingContender(budget), 0, False, 0
    for at, turn in enumerate(turns):
        if turn.contender != place:
            continue
        warming.add(turn)
        own += 1
        if own % _LOOK:
            continue
        share = cpu_without_load(turns[since : at + 1]).get(place)
        since, seen = at + 1, share is not None
        warming.busy_without_load = False if blind else share > BUSY_WITHOUT_LOAD if share is not None else None
        if warming.done:
            break
    mine = [turn for turn in turns if turn.contender == place]
    after, last = _cost(mine[own : own + _AFTER]), _cost(mine[-_LAST:])
    ended = len(mine) - own >= _AFTER
    return Replay(recorded_s, warming.seconds, after / last - 1 if ended and after and last else None, seen)


def _cost(turns: Sequence[TurnRecord]) -> float | None:
    costs = [turn.server_cpu_s / turn.completed for turn in turns if turn.server_cpu_s and turn.completed]
    return statistics.median(costs) if costs else None


def row(name: str, where: str, found: Sequence[Replay]) -> str:
    """A line of the table."""
    above = sorted(one.above for one in found if one.above is not None)
    worst = f"{above[-1 - len(above) // 10]:+.0%}" if above else ""
    middle = f"{statistics.median(above):+.0%}" if above else ""
    recorded = statistics.fmean(one.recorded_s for one in found)
    ruled = statistics.fmean(one.seconds for one in found)
    return f"| {name} | {where} | {len(found)} | {recorded:.1f} | {ruled:.1f} | {middle} | {worst} |"


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", nargs="+", type=Path, help="folders of recorded runs")
    parser.add_argument("--contender", default="", help="only those whose name has this word in it")
    parser.add_argument("--blind", action="store_true", help="as if every contender had been seen to rest")
    options = parser.parse_args()
    found: dict[tuple[str, str], list[Replay]] = defaultdict(list)
    for folder in options.runs:
        for name, replay in replays(load_run(folder), blind=options.blind):
            if options.contender in name:
                found[name, "others had turns" if replay.seen else "alone"].append(replay)
    print("| contender | at its end | number | recorded, s | by the rule, s | CPU per request above | worst tenth |")
    print("|---|---|---:|---:|---:|---:|---:|")
    for (name, where), one in sorted(found.items()):
        print(row(name, where, one))
    return 0


if __name__ == "__main__":
    sys.exit(main())
