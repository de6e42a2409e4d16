"""Gatling's printed end of a run, `js/stats.json` and `js/global_stats.json` of older versions, and `simulation.log`.

Source: its documentation, "Reports", and the files of its versions; times are whole milliseconds. The log is text up to
version 3.10, and later in a binary form.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from touchstone.audit.formats.load_tools import ONCE
from touchstone.audit.formats.shape import JsonDocument, LackingError, PrintedText, decimal, group_of
from touchstone.audit.published import PublishedResult, count, number, present, scaled
from touchstone.audit.samples import Samples

_MILLI = 1e-3
_HEAD = re.compile(r"^\s*-{2,} Global Information -+", re.MULTILINE)
_VALUE = r"^\s*> {}\s+\|?\s*([\d.]+)"
_KO = re.compile(
    r"^\s*> request count\s+(?:\|\s*\d+\s*\|\s*[\d-]+\s*\|\s*(\d+|-)|\d+\s+\(OK=\d+\s+KO=(\d+))", re.MULTILINE
)
_PERCENTILE = re.compile(r"^\s*> response time (\d+(?:\.\d+)?)(?:st|nd|rd|th) percentile", re.MULTILINE)
_LOG = re.compile(r"^RUN\t.*$", re.MULTILINE)
_STATS = {"numberOfRequests", "meanResponseTime", "minResponseTime", "maxResponseTime"}
_USUAL = (0.5, 0.75, 0.95, 0.99)
"""The percentiles of `percentiles1` to `percentiles4`, unless gatling.conf names others."""
_MODEL = "the file does not say whether users arrive at a rate or wait for their responses"


def _printed(text: str, name: str) -> PublishedResult:
    failed = _KO.search(text)
    matched = next((found for found in failed.groups() if found), "0") if failed else None
    answered, rate = _value(text, "request count"), _value(text, r"mean (?:throughput \(rps\)|requests/sec)")
    if answered is None or rate is None:
        raise LackingError("no lines `request count` and `mean requests/sec`")
    marks = {
        float(p) / 100: _time(text, rf"response time {re.escape(p)}\w+ percentile \(ms\)")
        for p in _PERCENTILE.findall(text)
    }
    marks |= {0.5: _time(text, r"response time 50th percentile(?: \(ms\))?")}
    return _result(
        name,
        rate=rate,
        answered=round(answered),
        errors=None if matched is None else int(matched) if matched.isdigit() else 0,
        mean_s=_time(text, r"mean response time(?: \(ms\))?"),
        percentiles=present(marks),
        min_s=_time(text, r"min response time(?: \(ms\))?"),
        max_s=_time(text, r"max response time(?: \(ms\))?"),
    )


def _value(text: str, name: str) -> float | None:
    return decimal(group_of(re.compile(_VALUE.format(name), re.MULTILINE), text))


def _time(text: str, name: str) -> float | None:
    return scaled(_value(text, name), _MILLI)


def _recognises(document: object) -> bool:
    stats = document.get("stats", document) if isinstance(document, dict) else None
    return isinstance(stats, dict) and stats.keys() >= _STATS


def _read(document: Mapping[str, Any], name: str) -> list[PublishedResult]:
    stats = document.get("stats", document)
    marks = {p: _total(stats, f"percentiles{place}") for place, p in enumerate(_USUAL, 1)}
    return [
        _result(
            name,
            rate=_total(stats, "meanNumberOfRequestsPerSecond"),
            answered=count(_total(stats, "numberOfRequests")),
            errors=count(_total(stats, "numberOfRequests", "ko")),
            mean_s=scaled(_total(stats, "meanResponseTime"), _MILLI),
            percentiles=present({p: scaled(value, _MILLI) for p, value in marks.items()}),
            min_s=scaled(_total(stats, "minResponseTime"), _MILLI),
            max_s=scaled(_total(stats, "maxResponseTime"), _MILLI),
        )
    ]


def _total(stats: Mapping[str, Any], name: str, part: str = "total") -> float | None:
    """A figure of all requests, which may be a number or a text. `-` means not measured."""
    found = stats.get(name)
    value = found.get(part) if isinstance(found, dict) else found
    return decimal(value) if isinstance(value, str) else number(value)


def _log(text: str, name: str) -> PublishedResult:
    """A text log: begin and end of a request are the two fields before its outcome."""
    samples, version = Samples(), None
    for line in text.splitlines():
        cells = line.split("\t")
        if cells[0] == "RUN":
            version = cells[-1].strip() or None
        if cells[0] != "REQUEST":
            continue
        outcome = next((place for place, cell in enumerate(cells) if cell in {"OK", "KO"} and place > 2), None)
        if outcome is None:
            raise LackingError("a line `REQUEST` without `OK` or `KO`")
        begin, end = decimal(cells[outcome - 2]), decimal(cells[outcome - 1])
        if begin is not None and end is not None and end >= begin:
            samples.add(begin * _MILLI, (end - begin) * _MILLI, right=cells[outcome] == "OK")
    return _result(name, version=version, **samples.figures)


def _result(name: str, **figures: Any) -> PublishedResult:
    figures = {"errors_in_rate": True, **figures}
    return PublishedResult(
        entry=name, test="gatling", tool="Gatling", step_s=_MILLI, lawless=_MODEL, causes=(ONCE,), **figures
    )


SHAPES = [
    PrintedText("Gatling", _HEAD, _printed),
    PrintedText("Gatling", _LOG, _log),
    JsonDocument("Gatling", _recognises, _read),
]
