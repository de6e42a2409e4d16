"""Ports of contenders: a free one each, or a service's fixed one."""

from __future__ import annotations

from touchstone.bench.base import Bench, Built, Ports
from touchstone.isolation.port import foreign_listener, free_port
from touchstone.isolation.process import StartError


def ports_for(bench: Bench, built: Built) -> Ports:
    """Free ports, or the contender's own. Raises StartError that names who has such a one."""
    main = free_port(bench.generators.host) if built.port is None else _fixed(built.port, "port", "PORT")
    if built.grpc_port is None:
        return Ports(main)
    if built.grpc_port != "free":
        return Ports(main, _fixed(built.grpc_port, "grpc_port", "GRPC_PORT"))
    while (grpc := free_port(bench.generators.host)) == main:
        pass
    return Ports(main, grpc)


def _fixed(port: int, key: str, variable: str) -> int:
    if holder := foreign_listener(port, ()):
        instead = f"remove `{key}` from its variant" if key == "port" else f'set `{key} = "free"` in its variant'
        raise StartError(
            f"its {key} is taken: {holder}",
            fix=f"end that process, or let the service take its port from {variable} and {instead}",
        )
    return port
