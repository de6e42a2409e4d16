"""The page with the curves of a run that goes on."""

from __future__ import annotations

import json
import time
from collections import deque
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import parse_qs
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from touchstone.engine.client import Event
from touchstone.metrics.live import LiveMetrics
from touchstone.report.html import environment

_MOST_POINTS = 20_000
"""About 5 MB of memory, and more than a run of hours has turns."""


class LivePage:
    """The points of the curves so far. The page asks for those that it does not have yet."""

    def __init__(self, live: LiveMetrics) -> None:
        self._live = live
        self._begun = time.monotonic()
        self._points: deque[tuple[int, dict[str, Any]]] = deque(maxlen=_MOST_POINTS)
        self._made = 0
        self._before: tuple[float, int] = (0.0, 0)

    def event(self, event: Event, labels: Mapping[str, str]) -> None:
        """Take up an event of the engine, which has these labels."""
        match event.get("event"):
            case "slice" if event.get("rate") is not None:
                latency, ok, cpu = event.get("latency") or {}, event.get("ok", 0), event.get("server_cpu_s")
                self._add(
                    labels,
                    rate=event["rate"],
                    p50=latency.get("p50"),
                    p99=latency.get("p99"),
                    cpu=cpu / ok if ok and cpu is not None else None,
                )
            case "progress" if "ok" in event:
                self._progress(event["t"], event["ok"], labels)

    def _progress(self, t: float, ok: int, labels: Mapping[str, str]) -> None:
        before_t, before_ok = self._before
        if t <= before_t or ok < before_ok:  # The next load counts from 0 again.
            before_t, before_ok = 0.0, 0
        self._before = t, ok
        if t > before_t:
            self._add(labels, rate=(ok - before_ok) / (t - before_t))

    def _add(self, labels: Mapping[str, str], **values: float | None) -> None:
        where = {name: labels[name] for name in ("contender", "load", "stage")}
        self._made += 1
        self._points.append((self._made, {"t": time.monotonic() - self._begun, **where, **values}))

    def points(self, after: int) -> dict[str, Any]:
        """The points after the first `after`, with their number, the current place and the progress."""
        kept = list(self._points)  # Copied at once: the run adds points in another thread.
        return {
            "made": kept[-1][0] if kept else 0,
            "points": [point for number, point in kept if number > after],
            "now": self._live.labels(),
            "measurements": self._live.measurements,
        }

    def beside(self, metrics: WSGIApplication) -> WSGIApplication:
        """An application with the page at `/`, its points at `/points`, metrics elsewhere."""

        def answer(asked: WSGIEnvironment, start: StartResponse) -> Iterable[bytes]:
            match asked["PATH_INFO"]:
                case "/":
                    text, kind = environment().get_template("live.html").render(), "text/html"
                case "/points":
                    after = parse_qs(asked.get("QUERY_STRING", "")).get("after", ["0"])[0]
                    text, kind = json.dumps(self.points(int(after) if after.isdecimal() else 0)), "application/json"
                case _:
                    return metrics(asked, start)
            body = text.encode()
            start("200 OK", [("Content-Type", f"{kind}; charset=utf-8"), ("Content-Length", str(len(body)))])
            return [body]

        return answer
