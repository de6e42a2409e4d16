"""What each contender uses at one and the same rate: shares of the smallest capacity, in slices."""

from __future__ import annotations

import random
from collections.abc import Sequence

from touchstone.bench.base import Bench
from touchstone.engine.slices import Turn
from touchstone.manifest.load import Load
from touchstone.phase.capacity.contender_search import ContenderSearch
from touchstone.phase.capacity.session import open_session, take_account
from touchstone.phase.capacity.trial import open_loop
from touchstone.plan.laps import balanced_laps
from touchstone.record.evidence.capacity import UseAtRate
from touchstone.record.memory import peak_memory

SHARES = {10: 0.10, 50: 0.50, 80: 0.80}
"""Shares of the smallest capacity, by the number in the figures' names."""
_LEAST_REQUESTS = 20
"""Least requests of a slice, which is lengthened for it: CPU clocks count microseconds, and a slice has edges."""
_LONGEST_S = 2.0


def measure_efficiency(
    bench: Bench, load: Load, seats: Sequence[ContenderSearch], round_number: int
) -> dict[str, list[UseAtRate]]:
    """CPU per request and memory of each seat at each share of the smallest capacity. Empty if nobody has one."""
    able = [seat for seat in seats if seat.capacity is not None and not seat.target.died()]
    smallest = min((seat.capacity for seat in able if seat.capacity), default=None)
    found: dict[str, list[UseAtRate]] = {seat.name: [] for seat in able}
    if smallest is None:
        return {}
    for share in SHARES.values():
        rate = share * smallest
        seconds = min(_LONGEST_S, max(bench.profile.slice_s, _LEAST_REQUESTS / rate))
        bench.watcher.step(f"all at {rate:,.0f} requests per second")
        with open_session(bench, open_loop(load, rate), able) as session:
            everyone = range(len(able))
            session.turns("warmup", [Turn(place, seconds) for place in everyone])
            dice = random.Random(f"{bench.seed}-{share}-{round_number}")
            orders = balanced_laps(len(able), bench.laps or bench.profile.laps, dice)
            records = [r for order in orders for r in session.turns("load", [Turn(p, seconds) for p in order])]
            result = session.finish(0.0)
        take_account(able, result)
        for place, (seat, own) in enumerate(zip(able, result.contenders, strict=True)):
            used = [(r.server_cpu_s, r.completed) for r in records if r.contender == place]
            answered = sum(completed for cpu, completed in used if cpu is not None)
            found[seat.name].append(
                UseAtRate(
                    share=share,
                    rate=rate,
                    cpu_per_request=sum(cpu or 0.0 for cpu, _ in used) / answered if answered else None,
                    rss=peak_memory(own.watch) if own.watch else None,
                    errors=own.counts.not_right,
                    slices=len(used),
                )
            )
    return found


def efficiency_figures(points: Sequence[UseAtRate]) -> dict[str, float]:
    """The figures of the points; what a contender answered with errors is not an efficiency."""
    names = {share: name for name, share in SHARES.items()}
    figures: dict[str, float] = {}
    for point in points:
        name = names[point.share]
        if point.errors:
            continue
        if point.cpu_per_request is not None:
            figures[f"capacity_cpu_{name}"] = point.cpu_per_request
        if point.rss is not None:
            figures[f"capacity_rss_{name}"] = float(point.rss)
    return figures
