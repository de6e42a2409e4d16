"""The container of a contender that is an image, with its needs of this machine."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from touchstone.bench.base import Bench, ImageBuilt
from touchstone.isolation.container import ContainerSpec


def container_spec(
    bench: Bench,
    image: ImageBuilt,
    env: Mapping[str, str],
    *,
    memory_limit: int | None = None,
    cpu_limit: float | None = None,
) -> ContainerSpec:
    """The contender's container: on the contender's CPUs, with the folders of its certificate and of dependencies that
    are files, such as SQLite's.
    """
    folders = dict.fromkeys(folder for dependency in bench.dependencies.values() for folder in dependency.folders())
    if certificate := env.get("TLS_CERT"):
        folders[Path(certificate).parent] = None
    return ContainerSpec(
        image.id,
        env,
        tuple(folders),
        bench.placement.server_cpus,
        memory_limit=memory_limit,
        cpu_limit=cpu_limit,
        seccomp=image.manifest.seccomp,
    )
