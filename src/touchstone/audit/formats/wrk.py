"""wrk's output, as printed with or without `--latency`, and that of wrk2, which offers a rate.

Source: wrk's README, and the statistics that wrk 4 prints; the README of wrk2.
"""

from __future__ import annotations

import re

from touchstone.audit.formats.load_tools import HIDDEN_QUEUE, ONCE, UNCHECKED
from touchstone.audit.published import Publication, Published, seconds

_HEAD = re.compile(r"Running \S+ test @ (\S+)")
_SHAPE = re.compile(r"(\d+) threads and (\d+) connections")
_LATENCY = re.compile(r"^\s+Latency\s+(\S+)\s+\S+\s+(\S+)", re.MULTILINE)
_PERCENTILE = re.compile(r"^\s+(\d+(?:\.\d+)?)%\s+([\d.]+[a-zµ]+)\s*$", re.MULTILINE)
_TOTAL = re.compile(r"(\d+) requests in ([\d.]+[a-z]+),")
_SOCKETS = re.compile(r"Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)")
_STATUS = re.compile(r"Non-2xx or 3xx responses: (\d+)")
_OPEN = re.compile(r"Thread calibration:|HdrHistogram - Recorded Latency")
"""wrk2 counts latency from the intended send time. Which rate it offered it does not print."""
_RATE = re.compile(r"Requests/sec:\s+([\d.]+)")


def recognises(document: object) -> bool:
    """Whether it is wrk's output."""
    return isinstance(document, str) and _HEAD.search(document) is not None and _RATE.search(document) is not None


def read(document: str, name: str) -> Publication:
    """The one result. Its count and its rate contain the responses that were errors."""
    head, shape, total = _HEAD.search(document), _SHAPE.search(document), _TOTAL.search(document)
    rate = _RATE.search(document)
    if head is None or total is None or rate is None:
        raise ValueError("no line `N requests in T`")
    latency, sockets, status = _LATENCY.search(document), _SOCKETS.search(document), _STATUS.search(document)
    percentiles = {float(p) / 100: seconds(value) for p, value in _PERCENTILE.findall(document)}
    opened = _OPEN.search(document) is not None
    made = Published(
        entry=name,
        test=head[1],
        connections=int(shape[2]) if shape else None,
        rate=float(rate[1]),
        duration_s=seconds(total[2]),
        answered=int(total[1]),
        errors=int(status[1]) if status else 0,
        unanswered=sum(map(int, sockets.groups())) if sockets else 0,
        errors_in_rate=True,
        open_loop=opened,
        mean_s=seconds(latency[1]) if latency else None,
        percentiles={p: value for p, value in percentiles.items() if value is not None},
        max_s=seconds(latency[2]) if latency else None,
    )
    of_all = [ONCE, UNCHECKED]
    return Publication("wrk2", [made], of_all) if opened else Publication("wrk", [made], [*of_all, HIDDEN_QUEUE])
