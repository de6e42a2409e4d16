"""Contenders of a search in slices: to warm them up, and to compare what they use at one rate."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager

from touchstone.bench.base import Bench
from touchstone.bench.tare import EngineServer
from touchstone.engine.job import traffic
from touchstone.engine.protocol import Contender, SlicesJob
from touchstone.engine.slices import SlicesResult, SlicesSession
from touchstone.manifest.load import Load
from touchstone.phase.capacity.seat import Seat, added
from touchstone.phase.load.tare import null_traffic
from touchstone.record.sample import TARE

_COUNTER_SLACK = 100_000


def open_session(
    bench: Bench, load: Load, seats: Sequence[Seat], null: EngineServer | None = None
) -> AbstractContextManager[SlicesSession]:
    """A slices job over these seats, in their order; `null` is the null server, where it is one of them."""
    contenders: list[Contender] = []
    for seat in seats:
        if seat.name == TARE:
            assert null is not None  # whoever seats the null server has it
            job = null_traffic(load, null, seat.seed)
        else:
            job = traffic(load, seat.target.url, seed=seat.seed, fresh=seat.fresh)
            job["watch"] = seat.target.watch
        job["first_counter"] = seat.counter
        contenders.append({"name": seat.name, "job": job})
    cpus = bench.placement.engine_cpus
    whole: SlicesJob = {"cpus": list(cpus), "threads": max(1, len(cpus)), "contenders": contenders}
    return bench.take_turns(whole, load.timeout_s)


def take_account(seats: Sequence[Seat], result: SlicesResult) -> None:
    """Add the session's requests to what the seats have sent, so that no key is used again."""
    for seat, own in zip(seats, result.contenders, strict=True):
        seat.totals = added(seat.totals, own.totals)
        seat.counter += own.totals.sent + _COUNTER_SLACK
