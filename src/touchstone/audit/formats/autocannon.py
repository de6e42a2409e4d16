"""autocannon's tables and its `--json`.

Source: its README, "API", and `lib/printResult.js`. Latencies are whole milliseconds, those below one are zero.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from touchstone.audit.formats.load_tools import HIDDEN_QUEUE, ONCE, UNCHECKED
from touchstone.audit.formats.shape import JsonDocument, LackingError, PrintedText
from touchstone.audit.published import PublishedResult, count, number, present, scaled, seconds

_MILLI = 1e-3
_HEAD = re.compile(
    r"^\s*Running (?:\d+ requests|\S+) (?:test|tests) @ (\S+)[ \t]*$(?=\n\s*(\d+) connections(?: with (\d+))?)",
    re.MULTILINE,
)
_CELLS = re.compile(r"[│|]")
_TOTAL = re.compile(r"^\s*([\d.]+)(k|M)? requests in ([\d.]+\w+), ", re.MULTILINE)
_CODES = re.compile(r"^\s*(\d+) 2xx responses, (\d+) non 2xx responses", re.MULTILINE)
_ERRORS = re.compile(r"^\s*([\d.]+)(k|M)? errors \(([\d.]+)(k|M)? timeouts\)", re.MULTILINE)
_SCALES = {"": 1.0, "k": 1e3, "M": 1e6}
_SAMPLE_S = 1.0
"""Its rate is a mean of whole seconds, and the last part of one is in the count alone."""
_CORRECTED = 1.01
"""With more latencies per response than this, `-R` added latencies for requests that a stall delayed."""


def _recognises(document: object) -> bool:
    known = {"latency", "requests", "throughput", "non2xx"}
    return isinstance(document, dict) and known <= document.keys() and isinstance(document["latency"], dict)


def _read(document: Mapping[str, Any], name: str) -> list[PublishedResult]:
    latency, requests = document["latency"], document["requests"]
    marks = {key: _mark(key) for key in latency if re.fullmatch(r"p\d+(_\d+)?", key)}
    answered = count(requests.get("total"))
    taken = number(latency.get("totalCount"))
    corrected = bool(answered and taken and taken > answered * _CORRECTED)
    connections, pipeline = count(document.get("connections")), count(document.get("pipelining"))
    duration = number(document.get("duration"))
    made = PublishedResult(
        entry=name,
        test=f"{document.get('url')}, {connections} connections",
        tool="autocannon",
        load=f"{document.get('url')} {connections} {pipeline}",
        connections=connections,
        pipeline=pipeline,
        rate=answered / duration if answered and duration else number(requests.get("average")),
        open_loop=corrected,
        duration_s=duration,
        answered=answered,
        errors=count(document.get("non2xx")),
        unanswered=count(document.get("errors")),
        errors_in_rate=True,
        mean_s=scaled(latency.get("average"), _MILLI),
        percentiles=present({p: scaled(latency[key], _MILLI) for key, p in marks.items()}),
        max_s=scaled(latency.get("max"), _MILLI),
        step_s=_MILLI,
        mean_step_s=_MILLI,
        causes=_causes(corrected=corrected),
    )
    return [made]


def _mark(key: str) -> float:
    """`p97_5` as 0.975."""
    return round(float(key[1:].replace("_", ".")) / 100, 7)


def _printed(text: str, name: str) -> PublishedResult:
    head, total, errors = _HEAD.search(text), _TOTAL.search(text), _ERRORS.search(text)
    latency = _table(text, "Latency")
    if head is None or total is None or not latency:
        raise LackingError("no table of latencies, or no line `N requests in T`")
    times = {key: seconds(value) for key, value in latency.items()}
    rate = _table(text, "Req/Sec").get("Avg")
    duration, codes, scale = seconds(total[3]), _CODES.search(text), _SCALES[total[2] or ""]
    answered = int(codes[1]) + int(codes[2]) if codes else round(float(total[1]) * scale)
    rounded = scale / 2 if scale > 1 and not codes else 0.0
    return PublishedResult(
        entry=name,
        test=f"{head[1]}, {head[2]} connections",
        tool="autocannon",
        load=f"{head[1]} {head[2]} {head[3]}",
        connections=int(head[2]),
        pipeline=int(head[3] or 1),
        rate=float(rate) if rate else None,
        duration_s=duration,
        answered=answered,
        answered_off=rounded + _SAMPLE_S * float(rate or 0),
        errors=int(codes[2]) if codes else 0,
        unanswered=round(float(errors[1]) * _SCALES[errors[2] or ""]) if errors else 0,
        errors_in_rate=True,
        mean_s=times.get("Avg"),
        percentiles=present({float(key[:-1]) / 100: value for key, value in times.items() if key.endswith("%")}),
        max_s=times.get("Max"),
        step_s=_MILLI,
        mean_step_s=_MILLI,
        causes=_causes(corrected=False),
    )


def _table(text: str, row: str) -> dict[str, str]:
    """The cells of a row by their heads; empty if the text has no such table."""
    heads: list[str] = []
    for line in text.splitlines():
        cells = [cell.strip() for cell in _CELLS.split(line)]
        if cells[1:2] == ["Stat"]:
            heads = cells
        elif cells[1:2] == [row]:
            return {head: cell for head, cell in zip(heads, cells, strict=False) if head not in {"", "Stat"}}
    return {}


def _causes(*, corrected: bool) -> tuple[tuple[str, str], ...]:
    return (ONCE, UNCHECKED) if corrected else (ONCE, UNCHECKED, HIDDEN_QUEUE)


SHAPES = [JsonDocument("autocannon", _recognises, _read), PrintedText("autocannon", _HEAD, _printed)]
