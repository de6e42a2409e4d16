"""ApacheBench's output, its `-e` percentiles and its `-g` table of requests.

Source: the manual of ab, and `support/ab.c` of the Apache HTTP server.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from touchstone.audit.formats.load_tools import HIDDEN_QUEUE, ONCE, UNCHECKED
from touchstone.audit.formats.shape import CsvTable, PrintedText, Row, decimal, field, group_of, required_group
from touchstone.audit.published import PublishedResult
from touchstone.audit.samples import Samples

_RUN = re.compile(
    r"^\s*(?:This is ApacheBench, Version(?:(?!This is ApacheBench)[\s\S])*?^\s*Server Software:|Server Software:|"
    r"This is ApacheBench, Version)",
    re.MULTILINE,
)
"""A run begins with its version, where that was pasted too; one that failed has nothing more."""
_VERSION = re.compile(r"ApacheBench, Version (\S+)(?: <\$Revision: (\d+))?")
_PERCENTILE = re.compile(r"^\s+(\d+)%\s+(\d+(?:\.\d+)?)(?: \(longest request\))?\s*$", re.MULTILINE)
_MEAN = re.compile(r"Time per request:\s+([\d.]+) \[ms\] \(mean\)")
_TOTAL = re.compile(r"^\s*Total:\s+([\d.]+)\s+([\d.]+)\s+[\d.]+\s+[\d.]+\s+([\d.]+)\s*$", re.MULTILINE)
_LENGTH = re.compile(r"Receive: \d+, Length: (\d+)")
"""Responses whose length is not that of the first: ab calls them failed, and any service with a counter has them."""
_MILLI = 1e-3
_CAUSES = (ONCE, UNCHECKED, HIDDEN_QUEUE)
_DERIVED = "ab computes its time per request from the rate and the concurrency, so the law holds whatever was measured"


def _read(text: str, name: str) -> PublishedResult:
    """The one result. Its rate counts every response; times are in whole milliseconds."""
    concurrency, total = int(_line(text, "Concurrency Level")), _TOTAL.search(text)
    version = _VERSION.search(text)
    times = {int(p) / 100: float(value) * _MILLI for p, value in _PERCENTILE.findall(text)}
    failed = int(_line(text, "Failed requests")) - int(group_of(_LENGTH, text) or 0)
    port = group_of(field("Server Port", r"(\d+)"), text)
    host, path = (group_of(field(name, r"(\S+)"), text) or "" for name in ("Server Hostname", "Document Path"))
    host = f"{host}:{port}" if port else host
    return PublishedResult(
        entry=name,
        test=f"{host}{path}, {concurrency} connections",
        tool="ab",
        version=(version[1] + (f" (revision {version[2]})" if version[2] else "")) if version else None,
        load=f"{host}{path} {concurrency}" if path else None,
        connections=concurrency,
        rate=float(_line(text, "Requests per second")),
        duration_s=float(_line(text, "Time taken for tests")),
        answered=int(_line(text, "Complete requests")),
        errors=int(group_of(field("Non-2xx responses"), text) or 0),
        unanswered=failed,
        errors_in_rate=True,
        mean_s=float(required_group(_MEAN, text, "Time per request:")) * _MILLI,
        percentiles={p: value for p, value in times.items() if p < 1},
        min_s=float(total[1]) * _MILLI if total else None,
        max_s=times.get(1.0, float(total[3]) * _MILLI if total else None),
        step_s=_MILLI,
        lawless=_DERIVED,
        causes=_CAUSES,
    )


def _line(text: str, name: str) -> str:
    return required_group(field(name), text, f"{name}:")


def _served(rows: Iterable[Row], name: str) -> PublishedResult:
    """Percentiles alone, of `-e`."""
    pairs = [(decimal(row["Percentage served"]), decimal(row["Time in ms"])) for row in rows]
    times = {p / 100: value * _MILLI for p, value in pairs if p is not None and value is not None}
    return PublishedResult(
        entry=name,
        test="ab",
        tool="ab",
        percentiles={p: value for p, value in times.items() if 0 < p < 1},
        min_s=times.get(0.0),
        max_s=times.get(1.0),
        causes=_CAUSES,
    )


def _requests(rows: Iterable[Row], name: str) -> PublishedResult:
    """A result from `-g`, which has whole seconds, whole milliseconds and no status."""
    samples = Samples(step_s=1.0)
    for row in rows:
        if (time := decimal(row["ttime"])) is not None:
            samples.add(decimal(row["seconds"]), time * _MILLI, right=True)
    figures = samples.figures | {"errors": None, "unanswered": None}
    return PublishedResult(entry=name, test="ab", tool="ab", step_s=_MILLI, causes=_CAUSES, **figures)


SHAPES = [
    PrintedText("ab", _RUN, _read),
    CsvTable("ab", frozenset({"Percentage served", "Time in ms"}), _served),
    CsvTable("ab", frozenset({"starttime", "seconds", "ctime", "dtime", "ttime", "wait"}), _requests),
]
