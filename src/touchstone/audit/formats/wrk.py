"""wrk's output, as printed with or without `--latency`, and that of wrk2, which offers a rate.

Source: wrk's README, the statistics that wrk 4 prints, and its `wrk.c`; the README of wrk2.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import pairwise

from touchstone.audit.formats.load_tools import HIDDEN_QUEUE, ONCE, UNCHECKED
from touchstone.audit.formats.shape import LackingError, PrintedText, group_of
from touchstone.audit.published import PublishedResult, present, seconds

_HEAD = re.compile(
    r"^(?:[^\n]*\bwrk2?\b[^\n]*\n+)?[ \t]*Running (\S+) test @ (\S+)[ \t]*$(?!\n\s*\d+ connections)", re.MULTILINE
)
"""With the command, if it was pasted too. autocannon prints the same words, and then connections without threads."""
_SHAPE = re.compile(r"(\d+) threads and (\d+) connections")
_LATENCY = re.compile(r"^\s+Latency\s+(\S+)\s+\S+\s+(\S+)", re.MULTILINE)
_BLOCK = re.compile(r"^\s*Latency Distribution(.*)$", re.MULTILINE)
_PERCENTILE = re.compile(r"^\s+(\d+(?:\.\d+)?)%\s+([\d.]+[a-zµ]+)\s*$", re.MULTILINE)
_TOTAL = re.compile(r"(\d+) requests in ([\d.]+[a-z]+),")
_SOCKETS = re.compile(r"Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)")
_STATUS = re.compile(r"Non-2xx or 3xx responses: (\d+)")
_OPEN = re.compile(r"Thread calibration:|HdrHistogram - Recorded Latency")
"""wrk2 counts latency from the intended send time. Which rate it offered it does not print."""
_RATE = re.compile(r"Requests/sec:\s+([\d.]+)")
_LITTLE = 1e-9
PIPELINED = (
    "wrk's latency of pipelined requests is neither that of a request nor that of a batch: it can lie below the "
    "smallest real one"
)


FILLED_IN = (
    "unmeasured-latencies",
    "wrk adds to the latencies that it measured those of requests that a slow response kept from being sent, as it "
    "guesses them: its mean and percentiles hold values that nobody measured",
)
"""`stats_correct` in `stats.c`: a latency of at least twice the mean time between two responses of a connection, e, is
counted again less e, less 2e, and so on, down to e."""
_VERSION = re.compile(r"\bwrk(?:2)? (?:\w+/)?(\d[\w.+-]*) \[\w+\]")


def least_mean(
    mean_s: float | None, percentiles: Mapping[float, float], max_s: float | None, between_s: float | None
) -> float | None:
    """The lowest possible mean of the measured latencies in seconds, given all that wrk printed.

    Args:
        mean_s: of all latencies, with those that wrk added.
        percentiles: of all; empty where wrk printed none.
        max_s: the largest, which was measured.
        between_s: the mean time between two responses of a connection.

    """
    if mean_s is None or max_s is None or not between_s or max_s < 2 * between_s:
        return mean_s
    if not percentiles:
        # The latencies that come of one lie between it and `between_s`, so their mean is at most this.
        return mean_s if mean_s > max_s / 2 + between_s else min(mean_s, between_s)
    # What was measured is what is counted, but for a copy, less `between_s`, of all that lies above twice of it.
    above = sum_above = straddling = reach = 0.0
    marks = [(0.0, 0.0), *sorted(percentiles.items()), (1.0, max_s)]
    for (before, low), (p, high) in pairwise(marks):
        if low >= 2 * between_s:
            above, sum_above = above + p - before, sum_above + (p - before) * (high - between_s)
        elif high > 2 * between_s:
            straddling, reach = p - before, high - between_s
    found = [
        (mean_s - sum_above - share * reach) / (1 - above - share)
        for share in (0.0, straddling)
        if 1 - above - share > _LITTLE
    ]
    return max(0.0, min(found, default=0.0))


def _read(text: str, name: str) -> PublishedResult:
    """The one result. Its count and its rate contain the responses that were errors."""
    head, shape, total = _HEAD.search(text), _SHAPE.search(text), _TOTAL.search(text)
    rate = group_of(_RATE, text)
    if head is None or total is None or rate is None:
        raise LackingError("no line `N requests in T`")
    latency, sockets = _LATENCY.search(text), _SOCKETS.search(text)
    opened = _OPEN.search(text) is not None
    percentiles, corrected = _percentiles(text)
    # Each thread holds the same number of connections: 100 over 3 threads are 99.
    connections = int(shape[2]) // int(shape[1]) * int(shape[1]) if shape and int(shape[1]) else None
    mean_s, max_s = (seconds(latency[1]), seconds(latency[2])) if latency else (None, None)
    between_s = int(shape[2]) / float(rate) if shape and float(rate) else None
    return PublishedResult(
        entry=name,
        version=group_of(_VERSION, head[0]),
        test=f"{head[2]}, {connections} connections" if connections else head[2],
        tool="wrk2" if opened else "wrk",
        load=f"{head[2]} {shape[0]} {head[1]}" if shape and not opened else None,
        connections=connections,
        rate=float(rate),
        duration_s=seconds(total[2]),
        answered=int(total[1]),
        errors=int(group_of(_STATUS, text) or 0),
        unanswered=sum(map(int, sockets.groups())) if sockets else 0,
        errors_in_rate=True,
        open_loop=opened,
        mean_s=mean_s,
        percentiles=percentiles,
        max_s=max_s,
        least_mean_s=None if opened else least_mean(mean_s, percentiles, max_s, between_s),
        lawless=PIPELINED if "pipeline" in head[0].partition("Running")[0] else None,
        causes=(ONCE, UNCHECKED, *([FILLED_IN] if not opened else [] if corrected else [HIDDEN_QUEUE])),
    )


def _percentiles(text: str) -> tuple[dict[float, float], bool]:
    """The percentiles, and whether they are corrected for coordinated omission. Corrected ones are preferred.

    wrk2 prints with `-U` those that are not corrected as well.
    """
    heads = list(_BLOCK.finditer(text))
    ends = [*(head.start() for head in heads[1:]), len(text)]
    blocks = [(head[1], text[head.end() : end]) for head, end in zip(heads, ends, strict=False)]
    blocks.sort(key=lambda block: "ncorrected" in block[0])
    title, block = blocks[0] if blocks else ("", "")
    found = {float(p) / 100: seconds(value) for p, value in _PERCENTILE.findall(block)}
    return present(found), "ncorrected" not in title


SHAPES = [PrintedText("wrk", _HEAD, _read)]
