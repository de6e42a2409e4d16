"""A run that was called on another node: touchstone itself, the scenario and the engine go to the server's node."""

from __future__ import annotations

import hashlib
import io
import os
import tarfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ray
import ray.exceptions

import touchstone
from touchstone.cluster.joining import TakenNode, courier
from touchstone.cluster.nodes import ClusterError, connect, first_line, living_nodes, node_roles, own_node
from touchstone.cluster.relay import SILENCE_S
from touchstone.engine.locate import engine_path
from touchstone.failure import ExitCode

PART = "TOUCHSTONE_CLUSTER_PART"
"""Set for a run that was sent: it is not sent on."""
_LAB = "lab"
_WAIT_S = 0.5
_LARGEST = 200 * 2**20
_LEFT_OUT = {"__pycache__", "target", "node_modules", ".touchstone", ".git", "build", "results"}
"""Folders of a scenario that builds recreate."""


@dataclass
class RemoteRun:
    """A run on a server's node. Its exit code and its results, an archive, when it has ended."""

    server: str
    hand: TakenNode
    folder: str
    code: int | None = None
    results: bytes = b""


def run_remotely(
    cluster: str, scenario: Path, words: Callable[[int, int], Sequence[str]], tell: Callable[[str], None]
) -> list[RemoteRun] | None:
    """Carry `touchstone run SCENARIO WORDS` out on each server's node; None if this machine is the only one.

    `words` are the command of the n-th server; `tell` receives its output. Raises ClusterError if a node is
    lost, or has no room.
    """
    connect(cluster)
    try:
        nodes = living_nodes()
        casts = node_roles(nodes)
        if [cast.server for cast in casts] == [own_node(nodes)]:
            return None
        program = pack(scenario)
        with ExitStack() as stack:
            labs = [
                _send(stack.enter_context(courier(cast.server)), scenario, program, words(number, len(casts)))
                for number, cast in enumerate(casts)
            ]
            _follow(labs, tell)
        return labs
    finally:
        ray.shutdown()


def _send(hand: TakenNode, scenario: Path, program: bytes, words: Sequence[str]) -> RemoteRun:
    digest = hashlib.sha256(program).hexdigest()
    home = _there(hand, "has_lab", digest) or _there(hand, "take_lab", digest, program)
    results = f"{home}/results-{hand.node.id[:12]}-{os.getpid()}"
    place = f"{home}/scenarios/{scenario.resolve().name}"
    command = ["-m", "touchstone", "run", place, *words, "--out", results]
    environment = {PART: "1", "PYTHONPATH": f"{home}/python", "TOUCHSTONE_ENGINE": f"{home}/touchstone-engine"}
    _there(hand, "start_lab", _LAB, home, command, environment)
    return RemoteRun(hand.node.name, hand, results)


def _there(hand: TakenNode, method: str, *arguments: Any) -> Any:
    try:
        return ray.get(getattr(hand.agent, method).remote(*arguments), timeout=10 * SILENCE_S)
    except ray.exceptions.RayError as error:
        cause = getattr(error, "cause", None) or error
        raise ClusterError(
            f"node {hand.node}: {method} failed: {first_line(cause)}", fix="see its raylet's log"
        ) from error


def _follow(labs: Sequence[RemoteRun], tell: Callable[[str], None]) -> None:
    """Pass on what the labs say until all have ended. Ctrl-C here is Ctrl-C there, and what was measured comes."""
    while running := [lab for lab in labs if lab.code is None]:
        try:
            for lab in running:
                try:
                    _listen(lab, f"[{lab.server}] " if len(labs) > 1 else "", tell)
                except ClusterError as error:
                    # What other machines measure is kept.
                    tell(f"{error}\n")
                    lab.code = ExitCode.FAILED
        except KeyboardInterrupt:
            for lab in running:
                _there(lab.hand, "interrupt", _LAB)


def _listen(lab: RemoteRun, name: str, tell: Callable[[str], None]) -> None:
    output, ended = _there(lab.hand, "listen", _LAB, _WAIT_S)
    tell("".join(name + line for line in output.splitlines(keepends=True)))
    if ended is not None:
        lab.code = int(_there(lab.hand, "code", _LAB))
        lab.results = _there(lab.hand, "give", lab.folder)


def pack(scenario: Path) -> bytes:
    """Lab, engine and scenario as one archive, the same bytes for the same content. Raises ClusterError."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for folder, place in (
            (Path(touchstone.__file__).parent, "python/touchstone"),
            (scenario.resolve(), f"scenarios/{scenario.resolve().name}"),
        ):
            for path in _files(folder):
                _add(archive, path, f"{place}/{path.relative_to(folder)}")
        _add(archive, engine_path(), "touchstone-engine")
    if buffer.tell() > _LARGEST:
        raise ClusterError(
            f"scenario {scenario} is {buffer.tell() / 2**20:.0f} MiB with lab and engine, above {_LARGEST / 2**20:.0f}",
            fix="move build results and data out of the folder",
        )
    return buffer.getvalue()


def _files(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.rglob("*")):
        inside = path.relative_to(folder).parts
        # Touchstone has a phase of the name `build`; scenarios have what builds leave.
        left_out = _LEFT_OUT - {"build"} if folder.name == "touchstone" else _LEFT_OUT
        if path.is_file() and left_out.isdisjoint(inside):
            yield path


def _add(archive: tarfile.TarFile, path: Path, name: str) -> None:
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode = path.stat().st_size, 0o755 if os.access(path, os.X_OK) else 0o644
    with path.open("rb") as stream:
        archive.addfile(entry, stream)


def unpack(results: bytes, folder: Path) -> bool:
    """Put a run's results into a folder; false if nothing was measured."""
    if not results:
        return False
    with tarfile.open(fileobj=io.BytesIO(results)) as packed:
        packed.extractall(folder, filter="data")
    return (folder / "plan.json").exists()
