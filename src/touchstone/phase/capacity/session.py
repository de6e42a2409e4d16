"""Contenders of a search in slices: to warm them up, and to compare what they use at one rate."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager

from touchstone.bench.base import Bench
from touchstone.engine.job import next_counter, traffic
from touchstone.engine.protocol import Traffic
from touchstone.engine.slices import SlicesResult, SlicesSession
from touchstone.manifest.load import Load
from touchstone.phase.capacity.contender_search import ContenderSearch, sum_of_totals
from touchstone.record.sample import TARE
from touchstone.traffic.null_server import null_load


def open_session(bench: Bench, load: Load, seats: Sequence[ContenderSearch]) -> AbstractContextManager[SlicesSession]:
    """A slices job that puts this load on these seats, in their order."""
    contenders: dict[str, Traffic] = {}
    for seat in seats:
        sent = null_load(load) if seat.name == TARE else load.with_captured(seat.target.prepared)
        job = traffic(sent, seat.target.url, seed=seat.seed, fresh=seat.fresh)
        job["watch"] = seat.target.watch
        job["first_counter"] = seat.counter
        contenders[seat.name] = job
    return bench.take_turns(contenders, load.timeout_s)


def take_account(seats: Sequence[ContenderSearch], result: SlicesResult) -> None:
    """Add the session's requests to the searches' counts. No key is then used twice."""
    for seat, own in zip(seats, result.contenders, strict=True):
        seat.totals = sum_of_totals(seat.totals, own.totals)
        seat.counter = next_counter(seat.counter, own.totals.sent)
