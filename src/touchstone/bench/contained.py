"""A contender that is an image: the container that is made of it, with what it needs of this machine."""

from __future__ import annotations

from collections.abc import Mapping

from touchstone.bench.base import Bench, Built, ImageBuilt
from touchstone.isolation.container import ContainerSpec
from touchstone.isolation.port import foreign_listener, free_port
from touchstone.isolation.process import StartError


def container_spec(
    bench: Bench,
    image: ImageBuilt,
    env: Mapping[str, str],
    *,
    memory_limit: int | None = None,
    cpu_limit: float | None = None,
) -> ContainerSpec:
    """Its container: on the contender's CPUs, with the folders of dependencies that are files, such as SQLite's."""
    folders = dict.fromkeys(folder for dependency in bench.dependencies.values() for folder in dependency.folders())
    return ContainerSpec(
        image.id,
        env,
        tuple(folders),
        bench.placement.server_cpus,
        memory_limit=memory_limit,
        cpu_limit=cpu_limit,
        seccomp=image.manifest.seccomp,
    )


def port_for(bench: Bench, built: Built) -> int:
    """Where a contender is to listen: a free port, or the one that its image insists on.

    Raises StartError that names who has that port.
    """
    fixed = built.image.manifest.port if built.image else None
    if fixed is None:
        return free_port(bench.generators.host)
    if holder := foreign_listener(fixed, ()):
        raise StartError(
            f"the image's port is taken: {holder}",
            fix="end that process; or let the image take its port from PORT, and leave its `port` out of stack.toml",
        )
    return fixed
