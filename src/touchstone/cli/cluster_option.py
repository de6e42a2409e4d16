"""The option `--cluster`: without it, nothing of Ray is imported."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from importlib.util import find_spec
from pathlib import Path

import typer

from touchstone.bench.generators import Generators, ThisMachine
from touchstone.cli.places import results_root
from touchstone.failure import UsageError


def load_from(cluster: str | None) -> AbstractContextManager[Generators]:
    """Where the load comes from: this machine, or the generators of the cluster at this address."""
    if cluster is None:
        return nullcontext(ThisMachine())
    need_ray()
    from touchstone.cluster.joining import joined  # noqa: PLC0415 - Ray is optional, and slow to import.

    return joined(cluster)


def need_ray() -> None:
    """Raises UsageError if Ray is not installed."""
    if find_spec("ray") is None:
        raise UsageError("--cluster needs Ray, which is not installed", mend="pip install 'touchstone[cluster]'")


def elsewhere(cluster: str, scenario: Path, words: Sequence[str], out: Path | None) -> int | None:
    """Carry the run out on the server's node, if that is not this machine; its exit code, or None."""
    need_ray()
    from touchstone.cluster.travel import travel, unpack  # noqa: PLC0415 - Ray is optional, and slow to import.

    done = travel(cluster, scenario, words, lambda text: typer.echo(text, nl=False))
    if done is None:
        return None
    code, results = done
    if place := unpack(results, out, results_root()):
        typer.echo(f"results, brought here: {place}")
    return code
