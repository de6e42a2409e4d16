"""HttpArena's result files: a list of entries per profile, a round (lists by profile), or one framework's `results`.

Source: the files under `site/data/` of its public repository, and its documentation of the profiles.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from touchstone.audit.formats.shape import JsonDocument
from touchstone.audit.published import Cause, PublishedResult, count, number, percent, present, seconds

_BEST_OF = (
    "best-of-runs",
    "the best of its runs is published, without the others: nobody can tell luck from speed",
)

_MEMORY = (
    "memory-of-container",
    "memory is the container's, without its parts: page cache and socket buffers may be in it",
)


def _recognises(document: object) -> bool:
    """Whether a document has this shape."""
    return any(True for _ in _entries(document))


def _read(document: object, name: str) -> list[PublishedResult]:
    """The entries; `name` stands for the profile where the file is a list."""
    memory = any("memory" in entry for _, entry in _entries(document))
    causes = (_BEST_OF, _MEMORY) if memory else (_BEST_OF,)
    return [_result(entry, test or name, causes) for test, entry in _entries(document)]


def _entries(document: object) -> Iterator[tuple[str, Mapping[str, Any]]]:
    if isinstance(document, list):
        found = [("", entry) for entry in document]
    elif isinstance(document, dict) and isinstance(document.get("results"), dict):
        found = list(document["results"].items())
    elif isinstance(document, dict):
        found = [(test, one) for test, entries in document.items() if isinstance(entries, list) for one in entries]
    else:
        return
    yield from ((test, e) for test, e in found if isinstance(e, dict) and {"framework", "rps"} <= e.keys())


def _result(entry: Mapping[str, Any], test: str, causes: tuple[Cause, ...]) -> PublishedResult:
    wrong = [counted for n in (4, 5) if (counted := count(entry.get(f"status_{n}xx"))) is not None]
    percentiles = {0.99: seconds(entry.get("p99_latency")), 0.999: seconds(entry.get("p99_9_latency"))}
    cpu_us = number(entry.get("cpu_usec"))
    return PublishedResult(
        ranked=True,
        entry=str(entry["framework"]),
        test=test,
        tool="HttpArena",
        connections=count(entry.get("connections")),
        pipeline=count(entry.get("pipeline")) or 1,
        rate=number(entry["rps"]),
        offered=number(entry.get("target_rate")),
        open_loop=bool(number(entry.get("target_rate"))),
        duration_s=seconds(entry.get("duration")),
        answered=count(entry.get("status_2xx")),
        errors=sum(wrong) if wrong else None,
        mean_s=seconds(entry.get("avg_latency")),
        percentiles=present(percentiles),
        cpus=percent(entry.get("cpu")),
        cpu_s=cpu_us / 1e6 if cpu_us is not None else None,
        causes=causes,
    )


SHAPES = [JsonDocument("HttpArena", _recognises, _read)]
