"""Whether all contenders can run at once, as loads in slices want it: ports, memory, and the engine's open files."""

from __future__ import annotations

import resource
from collections.abc import Iterable, Sequence

import psutil

from touchstone.bench.base import Bench
from touchstone.bench.together import divisible, started_together
from touchstone.isolation.family import family, resident
from touchstone.manifest.catalogue import Contender
from touchstone.manifest.load import Load

_PLENTY = 2 << 30
"""Bytes a contender: where each has as much, nobody is weighed."""
_GROWTH = 3.0
"""Memory under load divided by memory after the start, at most: heaps grow, caches fill."""
_USABLE = 0.8
"""The share of the available memory that contenders may plan with."""
_OTHER_FILES = 200
"""Descriptors of the engine that are not connections."""


def why_not_together(bench: Bench, contenders: Sequence[Contender]) -> str | None:
    """Why the contenders cannot all run at once; None if they can."""
    if why := port_conflict(contenders):
        return why
    # One that runs already has its memory already.
    own = [contender for contender in contenders if contender.outside is None]
    return _apart_for_memory(bench, own) if own and divisible(bench) else None


def port_conflict(contenders: Iterable[Contender]) -> str | None:
    """Why contenders cannot all run at once that listen on one fixed port. None if they can."""
    first: dict[int, str] = {}
    for contender in contenders:
        for port in (contender.variant.port, contender.variant.grpc_port):
            if not isinstance(port, int):
                continue
            other = first.setdefault(port, contender.name)
            if other != contender.name:
                both = f"{other} and {contender.name} both listen on port {port}"
                return f"{both}, which is fixed in both, so they cannot run at once"
    return None


def _apart_for_memory(bench: Bench, contenders: Sequence[Contender]) -> str | None:
    available = psutil.virtual_memory().available
    needed = _memory_needed(bench, contenders, available)
    if needed <= available * _USABLE:
        return None
    return (
        f"{len(contenders)} contenders at once may need {needed / 2**20:,.0f} MiB of memory, and "
        f"{available / 2**20:,.0f} MiB are available"
    )


def _memory_needed(bench: Bench, contenders: Sequence[Contender], available: int) -> int:
    """Bytes that all contenders may use at once: their limits, or what they weigh after a start."""
    limits = [load.memory_limit_mb for load in bench.loads.values()]
    if limits and None not in limits:
        return len(contenders) * max(limit for limit in limits if limit is not None) * 2**20
    if available >= len(contenders) * _PLENTY:
        return 0
    bench.watcher.step("weighing the contenders")
    with started_together(bench, contenders, 1, under=None) as (found, _):
        return int(_GROWTH * sum(resident(family(one.running.pid)) for one in found if one.running.pid is not None))


def files_suffice(load: Load, contenders: int) -> bool:
    """Whether one process may open the load's connections to all contenders and the null server."""
    wanted = load.connections * (contenders + 1) + _OTHER_FILES
    return wanted <= resource.getrlimit(resource.RLIMIT_NOFILE)[1]
