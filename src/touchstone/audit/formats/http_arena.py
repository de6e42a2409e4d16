"""HttpArena's result files: one per profile (a list of entries) or one per framework (`results` by profile).

Source: the files under `site/data/` of its public repository, and its documentation of the profiles.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from touchstone.audit.published import Publication, Published, number, percent, seconds

_BEST_OF = (
    "best-of-runs",
    "the best of its runs is published, without the others: nobody can tell luck from speed",
)

_MEMORY = (
    "memory-of-container",
    "memory is the container's, without its parts: page cache and socket buffers may be in it",
)


def recognises(document: object) -> bool:
    """Whether a document has this shape."""
    return any(True for _ in _entries(document))


def read(document: object, name: str) -> Publication:
    """The entries; `name` stands for the profile where the file is a list."""
    made = [_result(entry, test or name) for test, entry in _entries(document)]
    memory = any("memory" in entry for _, entry in _entries(document))
    return Publication("HttpArena", made, [_BEST_OF, *([_MEMORY] if memory else [])])


def _entries(document: object) -> Iterator[tuple[str, Mapping[str, Any]]]:
    if isinstance(document, list):
        found = [("", entry) for entry in document]
    elif isinstance(document, dict) and isinstance(document.get("results"), dict):
        found = list(document["results"].items())
    else:
        return
    yield from ((test, e) for test, e in found if isinstance(e, dict) and {"framework", "rps"} <= e.keys())


def _result(entry: Mapping[str, Any], test: str) -> Published:
    counts = {key: int(number(entry.get(key)) or 0) for key in (f"status_{n}xx" for n in (2, 3, 4, 5)) if key in entry}
    percentiles = {0.99: seconds(entry.get("p99_latency")), 0.999: seconds(entry.get("p99_9_latency"))}
    cpu_us = number(entry.get("cpu_usec"))
    connections = number(entry.get("connections"))
    return Published(
        entry=str(entry["framework"]),
        test=test,
        connections=int(connections) if connections else None,
        pipeline=int(number(entry.get("pipeline")) or 1),
        rate=number(entry["rps"]),
        offered=number(entry.get("target_rate")),
        duration_s=seconds(entry.get("duration")),
        answered=counts.get("status_2xx"),
        errors=counts.get("status_4xx", 0) + counts.get("status_5xx", 0) if counts else None,
        mean_s=seconds(entry.get("avg_latency")),
        percentiles={p: value for p, value in percentiles.items() if value is not None},
        cpus=percent(entry.get("cpu")),
        cpu_s=cpu_us / 1e6 if cpu_us is not None else None,
    )
