"""A root as an OCI image layout (image-spec 1.1), written by crane without a container engine.

crane appends layers and sets configurations in a registry only, so it is given one of its own: on loopback, on a port
that the kernel chooses, and gone with the call. What is pulled from there is a folder that any tool can push.
"""

from __future__ import annotations

import csv
import io
import os
import platform
import re
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from touchstone.failure import TouchstoneError
from touchstone.isolation.child import end_child, start_child

_PATIENCE_S = 10.0
_ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
"""The kernel's names and those of the image specification, which are Go's."""


class ImageError(TouchstoneError):
    """The image could not be written."""


@dataclass(frozen=True)
class ImageConfig:
    """What a container of the image is started with."""

    entrypoint: Sequence[str]
    env: Mapping[str, str]
    work: Path
    port: int


def write_layout(crane: Path, layer: Path, config: ImageConfig, target: Path) -> str:
    """Write the layout to the folder `target`: one layer, from a tar archive. Returns the manifest's digest.

    Raises ImageError.
    """
    with tempfile.TemporaryDirectory(prefix="touchstone-oci-") as folder:
        # No credentials of the user's are looked at: nothing leaves the machine.
        env = os.environ | {"DOCKER_CONFIG": folder}
        with _registry(crane, Path(folder), env) as address:
            name = f"{address}/image:latest"
            _run([crane, "append", "--oci-empty-base", "-f", layer, "-t", name], env)
            _run([crane, "mutate", name, "-t", name, *_settings(config)], env)
            target.parent.mkdir(parents=True, exist_ok=True)
            _run([crane, "pull", "--format=oci", name, target], env)
            return _run([crane, "digest", name], env).strip()


def _settings(config: ImageConfig) -> list[str]:
    machine = platform.machine()
    words = [
        f"--entrypoint={_as_list(config.entrypoint)}",
        f"--workdir={config.work}",
        f"--exposed-ports={config.port}/tcp",
        f"--set-platform=linux/{_ARCHITECTURES.get(machine, machine)}",
    ]
    return words + [f"--env={name}={value}" for name, value in config.env.items()]


def _as_list(words: Sequence[str]) -> str:
    """Words as crane reads a list: a line of CSV, so that a comma within a word stays there."""
    text = io.StringIO()
    csv.writer(text, lineterminator="").writerow(words)
    return text.getvalue()


@contextmanager
def _registry(crane: Path, folder: Path, env: Mapping[str, str]) -> Iterator[str]:
    """A registry of crane's own that keeps its blobs in `folder`; gives its address."""
    blobs, log = folder / "blobs", folder / "registry.log"
    blobs.mkdir()
    command = [str(crane), "registry", "serve", "--address", "127.0.0.1:0", "--disk", str(blobs)]
    with log.open("wb") as stream:
        process = start_child(command, env=env, stdout=subprocess.DEVNULL, stderr=stream)
    try:
        yield f"127.0.0.1:{_port(process, log)}"
    finally:
        end_child(process)


def _port(process: subprocess.Popen[bytes], log: Path) -> int:
    """The port that the registry says it serves on. Raises ImageError if it ends, or says nothing in time."""
    deadline = time.monotonic() + _PATIENCE_S
    while True:
        ended = process.poll() is not None
        output = log.read_text(encoding="utf-8", errors="replace")
        if found := re.search(r"serving on port (\d+)", output):
            return int(found.group(1))
        if ended or time.monotonic() > deadline:
            raise ImageError(
                f"crane's registry did not start: {output.strip()[-200:] or 'it output nothing'}",
                fix="this crane may be too old: get another with `touchstone toolchain crane --even-if-found`",
            )
        time.sleep(0.01)


def _run(command: Sequence[object], env: Mapping[str, str]) -> str:
    words = [str(word) for word in command]
    done = subprocess.run(words, env=env, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise ImageError(
            f"`crane {words[1]}` ended with code {done.returncode}: {done.stderr.strip()[-400:]}",
            fix="see that there is room on the disk, and that this crane is of version 0.20 or newer",
        )
    return done.stdout
