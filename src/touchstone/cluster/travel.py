"""A run that was called on another node: the lab itself, the scenario and the engine go to the server's node."""

from __future__ import annotations

import hashlib
import io
import json
import os
import shutil
import tarfile
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import ray
import ray.exceptions

import touchstone
from touchstone.cluster.joining import Hand, courier
from touchstone.cluster.nodes import ClusterError, cast_of, connect, first_line, living_nodes, own_node
from touchstone.cluster.relay import SILENCE_S
from touchstone.engine.locate import engine_path

_LAB = "lab"
_LARGEST = 200 * 2**20
_LEFT_OUT = {"__pycache__", "target", "node_modules", ".touchstone", ".git", "build", "results"}
"""Folders of a scenario that builds make anew."""


def travel(cluster: str, scenario: Path, words: Sequence[str], tell: Callable[[str], None]) -> tuple[int, bytes] | None:
    """Carry `touchstone run SCENARIO WORDS` out on the server's node, if that is another one than this.

    `tell` is given what it says while it runs. Its exit code and its results as an archive; None if that node is this
    one. Raises ClusterError if the node is lost, or has no room.
    """
    connect(cluster)
    try:
        nodes = living_nodes()
        server, _ = cast_of(nodes)
        if own_node(nodes) == server:
            return None
        with courier(server) as hand:
            program = pack(scenario)
            digest = hashlib.sha256(program).hexdigest()
            home = _there(hand, "has_lab", digest) or _there(hand, "take_lab", digest, program)
            results = f"{home}/results-{os.getpid()}"
            command = [
                "-m",
                "touchstone",
                "run",
                f"{home}/scenarios/{scenario.resolve().name}",
                *words,
                "--out",
                results,
            ]
            environment = {"PYTHONPATH": f"{home}/python", "TOUCHSTONE_ENGINE": f"{home}/touchstone-engine"}
            _there(hand, "start_lab", _LAB, home, command, environment)
            code = _follow(hand, tell)
            return code, _there(hand, "give", results)
    finally:
        ray.shutdown()


def _there(hand: Hand, method: str, *arguments: Any) -> Any:
    try:
        return ray.get(getattr(hand.agent, method).remote(*arguments), timeout=10 * SILENCE_S)
    except ray.exceptions.RayError as error:
        cause = getattr(error, "cause", None) or error
        raise ClusterError(
            f"node {hand.node}: {method} failed: {first_line(cause)}", mend="see its raylet's log"
        ) from error


def _follow(hand: Hand, tell: Callable[[str], None]) -> int:
    """Pass on what the lab there says until it ends. Ctrl-C here is Ctrl-C there, and what was measured comes."""
    while True:
        try:
            said, ended = _there(hand, "listen", _LAB, 1.0)
        except KeyboardInterrupt:
            _there(hand, "interrupt", _LAB)
            continue
        if said:
            tell(said)
        if ended is not None:
            return int(_there(hand, "code", _LAB))


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
            mend="move what its builds make, or its data, out of the folder",
        )
    return buffer.getvalue()


def _files(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.rglob("*")):
        inside = path.relative_to(folder).parts
        # The lab has a phase of the name `build`; scenarios have what builds leave.
        left_out = _LEFT_OUT - {"build"} if folder.name == "touchstone" else _LEFT_OUT
        if path.is_file() and left_out.isdisjoint(inside):
            yield path


def _add(archive: tarfile.TarFile, path: Path, name: str) -> None:
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode = path.stat().st_size, 0o755 if os.access(path, os.X_OK) else 0o644
    with path.open("rb") as stream:
        archive.addfile(entry, stream)


def unpack(results: bytes, out: Path | None, root: Path) -> Path | None:
    """Put a run's folder in its place: `out`, or `root` by the run's id. Where; None if nothing was measured."""
    with tempfile.TemporaryDirectory(prefix="touchstone-") as folder:
        with tarfile.open(fileobj=io.BytesIO(results)) as packed:
            packed.extractall(folder, filter="data")
        plan = Path(folder) / "plan.json"
        if not plan.exists():
            return None
        place = out or root / str(json.loads(plan.read_text(encoding="utf-8"))["run_id"])
        shutil.copytree(folder, place, dirs_exist_ok=True)
        return place
