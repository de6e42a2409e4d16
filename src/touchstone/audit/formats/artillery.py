"""Artillery's JSON (`artillery run --output FILE`), of version 2 and of version 1.

Source: its documentation, "Test report", and the reports of its versions; times are in milliseconds. Its users
arrive at a rate.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from touchstone.audit.formats.load_tools import ONCE
from touchstone.audit.formats.shape import JsonDocument
from touchstone.audit.published import PublishedResult, count, number, present, scaled
from touchstone.audit.samples import summed

_MILLI = 1e-3
_MARKS = {"p50": 0.5, "median": 0.5, "p75": 0.75, "p90": 0.9, "p95": 0.95, "p99": 0.99, "p999": 0.999}
_TIMES = "http.response_time"


def _aggregate(document: object) -> Mapping[str, Any]:
    found = document.get("aggregate") if isinstance(document, dict) else None
    return found if isinstance(found, dict) else {}


def _recognises(document: object) -> bool:
    aggregate = _aggregate(document)
    return {"counters", "summaries"} <= aggregate.keys() or {"requestsCompleted", "latency"} <= aggregate.keys()


def _read(document: Mapping[str, Any], name: str) -> list[PublishedResult]:
    aggregate = _aggregate(document)
    if "counters" in aggregate:
        counters = aggregate["counters"]
        times = aggregate["summaries"].get(_TIMES) or {}
        codes = {
            key.removeprefix("http.codes."): value for key, value in counters.items() if key.startswith("http.codes.")
        }
        errors = {key: value for key, value in counters.items() if key.startswith("errors.")}
        answered = count(counters.get("http.responses"))
        ends = (number(aggregate.get("firstCounterAt")), number(aggregate.get("lastCounterAt")))
    else:
        times, codes, errors = aggregate["latency"], aggregate.get("codes") or {}, aggregate.get("errors") or {}
        answered = count(aggregate["requestsCompleted"])
        ends = (None, None)
    begin, end = ends
    duration = (end - begin) * _MILLI if begin is not None and end is not None else None
    rates = aggregate.get("rps") or {}
    rate = answered / duration if answered is not None and duration else number(rates.get("mean"))
    _, wrong = summed((str(code), count(value)) for code, value in codes.items())
    return [
        PublishedResult(
            entry=name,
            test="artillery",
            tool="Artillery",
            rate=rate,
            open_loop=True,
            duration_s=duration,
            answered=answered,
            errors=wrong,
            unanswered=sum(count(value) or 0 for value in errors.values()),
            errors_in_rate=True,
            mean_s=scaled(times.get("mean"), _MILLI),
            percentiles=present({p: scaled(times.get(key), _MILLI) for key, p in _MARKS.items()}),
            min_s=scaled(times.get("min"), _MILLI),
            max_s=scaled(times.get("max"), _MILLI),
            step_s=_MILLI,
            causes=(ONCE,),
        )
    ]


SHAPES = [JsonDocument("Artillery", _recognises, _read)]
