"""The option `--cluster`. Ray is imported only if it is given."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import tempfile
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import typer

from touchstone.bench.generators import Generators, ThisMachine
from touchstone.cli.places import results_root
from touchstone.failure import ExitCode, UsageError
from touchstone.plan.plan import RunRequest
from touchstone.plan.preset import PROFILES
from touchstone.record.store import new_run_folder, refuse_taken
from touchstone.whole_file import write_whole


def load_from(cluster: str | None) -> AbstractContextManager[Generators]:
    """Return the source of the load: this machine, or the generators of the cluster at this address."""
    if cluster is None:
        return nullcontext(ThisMachine())
    need_ray()
    from touchstone.cluster.generators import joined  # noqa: PLC0415 - Ray is optional, and slow to import.

    return joined(cluster)


def need_ray() -> None:
    """Raise UsageError if Ray is not installed."""
    if find_spec("ray") is None:
        raise UsageError("--cluster needs Ray, which is not installed", fix="pip install 'touchstone-lab[cluster]'")


@dataclass(frozen=True)
class RemoteOutcome:
    """Result of a remote run: its exit code, or the results folder to judge on this machine."""

    code: ExitCode | int = ExitCode.OK
    folder: Path | None = None


def run_on_cluster(
    cluster: str, scenario: Path, words: Sequence[str], request: RunRequest, out: Path | None
) -> RemoteOutcome | None:
    """Run on the servers' nodes, which share the rounds. Returns None if this machine is the only server."""
    need_ray()
    from touchstone.cluster.fleet import merge  # noqa: PLC0415 - Ray is optional, and slow to import.
    from touchstone.cluster.remote_run import PART, run_remotely, unpack  # noqa: PLC0415

    if os.environ.get(PART):
        return None
    if out is not None:
        refuse_taken(out)
    rounds = request.rounds if request.rounds is not None else PROFILES[request.profile].rounds
    seed = request.seed if request.seed is not None else secrets.randbelow(2**31)

    def words_of(number: int, count: int) -> Sequence[str]:
        return [*words, "--rounds", str(-(-rounds // count)), "--seed", str(seed + number)] if count > 1 else words

    sent = run_remotely(cluster, scenario, words_of, lambda text: typer.echo(text, nl=False))
    if sent is None:
        return None
    with tempfile.TemporaryDirectory(prefix="touchstone-") as place:
        parts = {one.server: folder for one in sent if unpack(one.results, folder := Path(place) / one.server)}
        if not parts:
            return RemoteOutcome(code=max(one.code or 0 for one in sent))
        path = next(iter(parts.values())) / "plan.json"
        plan = json.loads(path.read_text(encoding="utf-8"))
        folder = out or new_run_folder(results_root(), str(plan["run_id"]))
        if out is None:
            write_whole(path, json.dumps(plan | {"run_id": folder.name}, indent=1) + "\n")
        if len(sent) > 1:
            merge(parts, folder)
            return RemoteOutcome(folder=folder)
        shutil.copytree(parts[sent[0].server], folder, dirs_exist_ok=True)
    typer.echo(f"results, brought here: {folder}")
    return RemoteOutcome(code=sent[0].code or 0)
