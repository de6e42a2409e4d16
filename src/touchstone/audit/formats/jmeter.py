"""JMeter's results: its JTL as CSV and as XML, the dashboard's `statistics.json`, the table of its aggregate report.

Source: its user manual, "Listeners" and "Dashboard Report"; times are whole milliseconds.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any
from xml.etree import ElementTree

from touchstone.audit.formats.load_tools import HIDDEN_QUEUE, ONCE
from touchstone.audit.formats.shape import CsvTable, JsonDocument, LackingError, PrintedText, Row, decimal, whole
from touchstone.audit.published import PublishedResult, count, number, present, scaled
from touchstone.audit.samples import Samples

_MILLI = 1e-3
_CAUSES = (ONCE, HIDDEN_QUEUE)
_THREADS = "threads are not connections: a thread may wait between samples"
_CONTROLLER = "Number of samples in transaction"
"""The message of a controller, whose time is that of the samples within it."""
_TOTALS = {"total", "gesamt", "insgesamt"}
_XML = re.compile(r"^\s*(?:<\?xml[^>]*\?>\s*)?<testResults\b", re.MULTILINE)


def _rows(rows: Iterable[Row], name: str) -> PublishedResult:
    samples = Samples()
    for row in rows:
        elapsed = decimal(row["elapsed"])
        if elapsed is None or (row.get("responseMessage") or "").startswith(_CONTROLLER):
            continue
        code = row.get("responseCode") or ""
        answered = not code.startswith("Non HTTP response code")
        right = (row.get("success") or "true").lower() == "true"
        samples.add(_second(row["timeStamp"]), elapsed * _MILLI, right=right, answered=answered)
    return _result(name, **samples.figures)


def _second(text: str) -> float | None:
    """A time stamp, in milliseconds since 1970 or as a date."""
    if (milliseconds := decimal(text)) is not None:
        return milliseconds * _MILLI
    try:
        return datetime.fromisoformat(text.strip().replace("/", "-")).timestamp()
    except ValueError:
        return None


def _printed(text: str, name: str) -> PublishedResult:
    """A result from XML: samples at any depth, without those that contain others."""
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise LackingError("a JTL file has no document type")
    try:
        root = ElementTree.fromstring(text.strip())
    except ElementTree.ParseError as problem:
        raise LackingError(f"no whole XML document: {problem}") from problem
    elements = [one for one in root.iter() if one.tag in {"httpSample", "sample"} and "t" in one.attrib]
    leaves = [one for one in elements if not any(child.tag in {"httpSample", "sample"} for child in one)]
    names = {"timeStamp": "ts", "elapsed": "t", "responseCode": "rc", "responseMessage": "rm", "success": "s"}
    return _rows([{key: one.get(short, "") for key, short in names.items()} for one in leaves], name)


def _statistics(document: object) -> bool:
    total = document.get("Total") if isinstance(document, dict) else None
    return isinstance(total, dict) and {"sampleCount", "meanResTime", "throughput"} <= total.keys()


def _read_statistics(document: Mapping[str, Any], name: str) -> list[PublishedResult]:
    """The total. Which percentiles `pct1ResTime` to `pct3ResTime` are is a setting: 90, 95 and 99 unless changed."""
    total = document["Total"]
    marks = {0.5: "medianResTime", 0.9: "pct1ResTime", 0.95: "pct2ResTime", 0.99: "pct3ResTime"}
    return [
        _result(
            name,
            rate=number(total["throughput"]),
            answered=count(total["sampleCount"]),
            errors=count(total.get("errorCount")),
            errors_in_rate=True,
            mean_s=scaled(total["meanResTime"], _MILLI),
            percentiles=present({p: scaled(total.get(key), _MILLI) for p, key in marks.items()}),
            min_s=scaled(total.get("minResTime"), _MILLI),
            max_s=scaled(total.get("maxResTime"), _MILLI),
        )
    ]


def _aggregate(rows: Iterable[Row], name: str) -> PublishedResult:
    """The total of an aggregate or a summary report; a report of one label needs none."""
    lines = list(rows)
    row = next((one for one in lines if one["Label"].strip().lower() in _TOTALS), lines[0] if len(lines) == 1 else None)
    if row is None:
        raise LackingError("no row `TOTAL`")
    keys = [(float(found[1]) / 100, key) for key in row if (found := re.fullmatch(r"(\d+(?:\.\d+)?)% Line", key))]
    times = {key: decimal(row.get(key)) for key in ("Average", "Median", "Min", "Max", *(key for _, key in keys))}
    samples, share = whole(row["# Samples"]), decimal(row.get("Error %"))
    percent = 1.0 if share is not None and "%" not in (row.get("Error %") or "") and share <= 1 else 100.0
    return _result(
        name,
        rate=_per_second(row.get("Throughput")),
        answered=samples,
        errors=round(samples * share / percent) if samples is not None and share is not None else None,
        errors_in_rate=True,
        mean_s=scaled(times["Average"], _MILLI),
        percentiles=present({p: scaled(times[key], _MILLI) for p, key in [(0.5, "Median"), *keys]}),
        min_s=scaled(times["Min"], _MILLI),
        max_s=scaled(times["Max"], _MILLI),
    )


def _per_second(text: str | None) -> float | None:
    """A throughput, which is per second unless it says `/min` or `/hour`."""
    value, _, unit = (text or "").partition("/")
    scale = {"min": 60.0, "hour": 3600.0}.get(unit.strip(), 1.0)
    found = decimal(value)
    return None if found is None else found / scale


def _result(name: str, **figures: Any) -> PublishedResult:
    return PublishedResult(
        entry=name, test="jmeter", tool="JMeter", step_s=_MILLI, lawless=_THREADS, causes=_CAUSES, **figures
    )


SHAPES = [
    CsvTable("JMeter", frozenset({"timeStamp", "elapsed", "label"}), _rows),
    CsvTable("JMeter", frozenset({"Label", "# Samples", "Average", "Throughput"}), _aggregate),
    PrintedText("JMeter", _XML, _printed),
    JsonDocument("JMeter", _statistics, _read_statistics),
]
