"""The cells of the field guide: what the samples of one server say, in words and as values beside the guesses."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from touchstone.record.evidence.bounds import BoundsEvidence, HeadLimit, QuietConnection
from touchstone.record.evidence.stop import StopEvidence
from touchstone.record.sample import Sample
from touchstone.report.bounds import farewell
from touchstone.report.format import TIMES

Value = float | str | bool
"""A value as `expected.toml` has it: a number, `none`, a status or a behaviour."""


@dataclass(frozen=True)
class Cell:
    """What was measured of one server in one column."""

    text: str
    values: Mapping[str, Value] = field(default_factory=dict)
    """By the keys of `expected.toml`."""


def quiet(samples: Sequence[Sample], kind: str, key: str) -> Cell | None:
    """When connections of a kind (`idle`, `silent`, `half_sent`) are closed."""
    evidence = _bounds(samples)
    if evidence is None:
        return None
    watched: list[QuietConnection] = getattr(evidence.result, kind)
    times = [one.closed_s for one in watched if one.closed_s is not None]
    if len(times) < len(watched):
        return Cell(f"open after {evidence.watch_s:g} s", {key: "none"})
    how = farewell(watched)
    return Cell(spread(times, "s") + ("" if how == "no response" else f", {how}"), {key: statistics.median(times)})


def responses(samples: Sequence[Sample]) -> Cell | None:
    """Responses on one connection."""
    evidence = _bounds(samples)
    if evidence is None or evidence.result.responses is None:
        return None
    found = evidence.result.responses
    if not found.ended:
        return Cell(f"more than {found.count:,}", {"responses": "none"})
    says = "" if found.announced else ", unannounced"
    return Cell(f"{found.count:,}{says}", {"responses": found.count})


def head(samples: Sequence[Sample], kind: str, key: str, status_key: str, unit: str) -> Cell | None:
    """A bound of a request's head, with its refusal."""
    evidence = _bounds(samples)
    limit: HeadLimit | None = getattr(evidence.result, kind) if evidence else None
    if limit is None:
        return None
    if limit.refused is None:
        return Cell(f"more than {limit.accepted:,}{unit}", {key: "none", status_key: "none"})
    how: Value = limit.status if limit.status is not None else (limit.instead or "closed")
    return Cell(f"{limit.accepted:,}{unit}, {how}", {key: limit.accepted, status_key: how})


def h2c(samples: Sequence[Sample]) -> Cell | None:
    """HTTP/2 without TLS."""
    evidence = _bounds(samples)
    return Cell("yes" if evidence.result.h2c else "no", {"h2c": evidence.result.h2c}) if evidence else None


def stop_time(samples: Sequence[Sample], case: str, key: str) -> Cell | None:
    """From SIGTERM to the end."""
    stops = _stops(samples, case)
    if not stops:
        return None
    times = [stop.result.stop_s for stop in stops if stop.result.stop_s is not None]
    if len(times) < len(stops):
        return Cell(f"killed after {stops[0].within_s:g} s", {key: stops[0].within_s})
    return Cell(spread(times, "s"), {key: statistics.median(times)})


def stop_lost(samples: Sequence[Sample]) -> Cell | None:
    """Requests that a stop under load loses, and those whose connection was closed before they were read."""
    stops = _stops(samples, "in-flight")
    if not stops:
        return None
    lost = [stop.result.from_signal.lost for stop in stops]
    closed = [stop.result.from_signal.closed_under for stop in stops]
    also = f", {_range(closed)} on closed connections" if any(closed) else ""
    return Cell(_range(lost) + also, {"stop_lost": max(lost)})


def stop_slow(samples: Sequence[Sample]) -> Cell | None:
    """What becomes of requests that are under way."""
    stops = _stops(samples, "slow")
    if not stops:
        return None
    cut = sum(stop.result.from_signal.lost for stop in stops)
    behaviour = "cut" if cut else "finished"
    ends = stop_time(samples, "slow", "")
    return Cell(f"{behaviour}; {ends.text if ends else ''}", {"stop_slow": behaviour})


def figure(samples: Sequence[Sample], name: str, key: str, scale: float, unit: str) -> Cell | None:
    """A figure over rounds: its median, smallest and largest value."""
    values = [sample.figures[name] * scale for sample in samples if name in sample.figures]
    return _over_rounds(values, key, unit)


def cpu_ratio(samples: Sequence[Sample], null_server: Mapping[int | None, float]) -> Cell | None:
    """CPU per request over that of the null server in the same round."""
    name = "cpu_per_request"
    ratios = [
        sample.figures[name] / null_server[sample.round]
        for sample in samples
        if sample.load == "hundred" and name in sample.figures and sample.round in null_server
    ]
    return _over_rounds(ratios, "cpu_ratio", TIMES)


def heap(samples: Sequence[Sample], load: str, key: str) -> Cell | None:
    """The largest heap that the runtime allows itself under a load's memory limit."""
    for sample in samples:
        bound = sample.process.placement.heap_bound if sample.load == load and sample.process.placement else None
        if bound is not None:
            return Cell(f"{bound.bytes / 2**20:,.0f} MiB", {key: bound.bytes / 2**20})
    return None


def conformance(samples: Sequence[Sample]) -> Cell | None:
    """MUST requirements broken, by what a breach does to others."""
    for sample in samples:
        if sample.phase == "probe" and sample.figures:
            counts = {name: int(sample.figures[f"probe_{name}"]) for name in ("dangerous", "breaks", "unclear")}
            total = int(sample.figures["probe_must_broken"])
            other = total - sum(counts.values())
            text = f"{total}: {counts['dangerous']} / {counts['breaks']} / {counts['unclear']} / {other}"
            return Cell(text, {"must_broken": total})
    return None


def spread(values: Sequence[float], unit: str) -> str:
    """Values as one number where they are alike, else from the smallest to the largest."""
    low, high = (_short(value) for value in (min(values), max(values)))
    return f"{low} {unit}" if low == high else f"{low} to {high} {unit}"


def _over_rounds(values: Sequence[float], key: str, unit: str) -> Cell | None:
    if not values:
        return None
    middle = statistics.median(values)
    space = "" if unit == TIMES else " "
    return Cell(f"{_short(middle)}{space}{unit} ({_short(min(values))} to {_short(max(values))})", {key: middle})


def _short(value: float) -> str:
    """Three digits at most behind which nothing was measured: `0.02`, `5.0`, `23,544`."""
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 1 else f"{value:.2f}"


def _range(counts: Sequence[int]) -> str:
    return f"{min(counts)}" if min(counts) == max(counts) else f"{min(counts)} to {max(counts)}"


def _bounds(samples: Sequence[Sample]) -> BoundsEvidence | None:
    return next((sample.bounds for sample in samples if sample.bounds is not None), None)


def _stops(samples: Sequence[Sample], case: str) -> list[StopEvidence]:
    found = [sample.stop for sample in samples if sample.stop is not None]
    return [stop for stop in found if stop.case == case and stop.result.failure is None]


Reader = Callable[[Sequence[Sample]], Cell | None]
