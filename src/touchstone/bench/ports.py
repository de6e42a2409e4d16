"""Ports of contenders: a free one each, or a service's fixed one."""

from __future__ import annotations

from touchstone.bench.base import Bench, Built
from touchstone.isolation.port import foreign_listener, free_port
from touchstone.isolation.process import StartError


def port_for(bench: Bench, built: Built) -> int:
    """A free port, or the contender's own. Raises StartError that names who has that one."""
    if built.port is None:
        return free_port(bench.generators.host)
    if holder := foreign_listener(built.port, ()):
        raise StartError(
            f"its port is taken: {holder}",
            fix="end that process, or let the service take its port from PORT and remove `port` from its variant",
        )
    return built.port
