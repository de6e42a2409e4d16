"""vegeta's reports: JSON, text and `hdrplot`; and its results as `vegeta encode` writes them.

Source: its README, "report" and "encode"; times are in nanoseconds, and the status 0 stands for requests without a
response.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from touchstone.audit.formats.load_tools import ONCE, UNCHECKED
from touchstone.audit.formats.shape import JsonDocument, JsonLines, LackingError, PrintedText
from touchstone.audit.published import PublishedResult, count, number, present, scaled, seconds
from touchstone.audit.samples import Samples, summed

_NANO = 1e-9
_PERCENTILES = {"50th": 0.5, "90th": 0.9, "95th": 0.95, "99th": 0.99}
_CAUSES = (ONCE, UNCHECKED)
_TEXT = re.compile(r"^\s*Requests\s+\[total, rate(?:, throughput)?\]", re.MULTILINE)
_LINE = r"^\s*{}\s+\[([^\]]*)\]\s+(\S.*)$"
_PLOT = re.compile(r"^\s*Value\(ms\)\s+Percentile\s+TotalCount\s+1/\(1-Percentile\)", re.MULTILINE)
_PLOT_ROW = re.compile(r"^\s*([\d.]+)\s+([\d.]+)\s+(\d+)\s+[\d.]+", re.MULTILINE)


def _recognises(document: object) -> bool:
    return isinstance(document, dict) and {"latencies", "status_codes", "throughput", "rate"} <= document.keys()


def _read(document: Mapping[str, Any], name: str) -> list[PublishedResult]:
    latencies, statuses = document["latencies"], document["status_codes"]
    duration, wait = (number(document.get(key)) for key in ("duration", "wait"))
    return [
        _result(
            name,
            sent=number(document["rate"]),
            rate=number(document["throughput"]),
            attack_s=scaled(duration, _NANO),
            wait_s=scaled(wait, _NANO),
            statuses=[(str(code), count(value) or 0) for code, value in statuses.items()],
            mean_s=scaled(latencies.get("mean"), _NANO),
            percentiles=present({p: scaled(latencies.get(key), _NANO) for key, p in _PERCENTILES.items()}),
            min_s=scaled(latencies.get("min"), _NANO),
            max_s=scaled(latencies.get("max"), _NANO),
        )
    ]


def _printed(text: str, name: str) -> PublishedResult:
    requests, duration = _row(text, "Requests"), _row(text, "Duration")
    latencies, statuses = _row(text, "Latencies"), _row(text, r"Status Codes")
    times = {key: seconds(value) for key, value in latencies.items()}
    codes = [pair.partition(":") for pair in statuses.get("code:count", "").split()]
    return _result(
        name,
        sent=float(requests["rate"]),
        rate=float(requests.get("throughput", requests["rate"])),
        attack_s=seconds(duration["attack"]),
        wait_s=seconds(duration.get("wait", "")),
        statuses=[(code, int(responses)) for code, _, responses in codes],
        mean_s=times.get("mean"),
        percentiles=present({float(key) / 100: value for key, value in times.items() if key.isdigit()}),
        min_s=times.get("min"),
        max_s=times.get("max"),
    )


def _row(text: str, name: str) -> dict[str, str]:
    """A line such as `Duration  [total, attack, wait]  10s, 9.9s, 1ms`, by its names."""
    found = re.search(_LINE.format(name), text, re.MULTILINE)
    if found is None:
        raise LackingError(f"no line `{name}`")
    names = found[1].split(", ")
    return dict(zip(names, found[2].split(", ") if len(names) > 1 else [found[2]], strict=False))


def _result(
    name: str,
    *,
    sent: float | None,
    rate: float | None,
    attack_s: float | None,
    wait_s: float | None,
    statuses: Sequence[tuple[str, int]],
    mean_s: float | None,
    percentiles: Mapping[float, float],
    min_s: float | None,
    max_s: float | None,
) -> PublishedResult:
    """The one result: an open loop, of which one rate is what was sent, and one what succeeded."""
    counts = dict(statuses)
    unanswered = counts.pop("0", 0)
    right, wrong = summed(counts.items())
    # The rate of successes is over the wait for the last response as well. A wait as long as a usual response
    # is not a queue, and a short attack has not failed its rate by it.
    p99 = percentiles.get(0.99)
    short = attack_s and wait_s and p99 and wait_s <= p99
    reach = attack_s / (attack_s + wait_s) if short and attack_s and wait_s else 1.0
    spans = [span for span in (attack_s, wait_s) if span is not None]
    return PublishedResult(
        entry=name,
        test="vegeta",
        tool="vegeta",
        rate=rate,
        offered=sent * reach if sent is not None else None,
        open_loop=True,
        duration_s=sum(spans) or None,
        answered=right,
        errors=wrong,
        unanswered=unanswered,
        mean_s=mean_s,
        percentiles=percentiles,
        min_s=min_s,
        max_s=max_s,
        causes=_CAUSES,
    )


def _plot(text: str, name: str) -> PublishedResult:
    """Percentiles alone: a plot has no rate and no duration."""
    rows = [(float(p), float(value) / 1e3, int(total)) for value, p, total in _PLOT_ROW.findall(text)]
    if not rows:
        raise LackingError("no line of values")
    return PublishedResult(
        entry=name,
        test="vegeta",
        tool="vegeta",
        open_loop=True,
        percentiles={p: value for p, value, _ in rows if 0 < p < 1},
        min_s=next((value for p, value, _ in rows if p == 0), None),
        max_s=next((value for p, value, _ in rows if p == 1), None),
        causes=_CAUSES,
    )


def _event(document: object) -> bool:
    return isinstance(document, dict) and {"code", "timestamp", "latency", "seq"} <= document.keys()


def _lines(documents: Sequence[Mapping[str, Any]], name: str) -> PublishedResult:
    samples = Samples()
    for one in documents:
        begin, latency = datetime.fromisoformat(one["timestamp"]).timestamp(), scaled(one["latency"], _NANO)
        code = str(one["code"])
        samples.add(begin, latency or 0.0, right=code[0] in "23", answered=code != "0")
    return PublishedResult(entry=name, test="vegeta", tool="vegeta", open_loop=True, causes=_CAUSES, **samples.figures)


SHAPES = [
    JsonDocument("vegeta", _recognises, _read),
    PrintedText("vegeta", _TEXT, _printed),
    PrintedText("vegeta", _PLOT, _plot),
    JsonLines("vegeta", _event, _lines),
]
