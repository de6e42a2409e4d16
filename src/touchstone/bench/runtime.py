"""What a contender's runtime says of itself: how many CPUs it counts, its heap's bound, the AOT cache that it takes."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from touchstone.bench.aot_cache import aot_cache
from touchstone.bench.base import Bench, Built
from touchstone.bench.counted_cpus import counted_cpus
from touchstone.bench.heap_bound import heap_bound
from touchstone.isolation.delegation import lab_limits
from touchstone.record.process import Process


def note_runtime(bench: Bench, built: Built, record: Process, env: Mapping[str, str], command: tuple[str, ...]) -> None:
    """Put it on record. Each question is asked once for a limit and a `command`, which is as the manifest has it.

    Host, port and certificate, which `built` names, change nothing of the answer.
    """

    def once(what: str, limit: float | None, ask: Callable[[], Any]) -> Any:
        question = (what, record.contender, command, limit)
        if question not in bench.asked:
            bench.asked[question] = ask()
        return bench.asked[question]

    cpus, own, memory = bench.placement.server_cpus, lab_limits().cpus, record.placement.memory_limit
    quota = min(record.placement.cpu_limit or math.inf, own.most if own else math.inf)
    noted: dict[str, Any] = {}
    if quota < len(cpus):
        tools = bench.tools.get(record.contender, {})
        noted["counted_cpus"] = once("cpus", quota, lambda: counted_cpus(built, env, tools, cpus, quota))
    if memory:
        noted["heap_bound"] = once("heap", memory, lambda: heap_bound(built, env, memory))
    record.placement = record.placement.model_copy(update=noted)
    record.aot_cache = once("cache", None, lambda: aot_cache(built, env))
