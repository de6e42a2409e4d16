"""Builds mote's hello, the hyper contender that it is compared with, and the floor: a responder that parses nothing."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from benchmarks.mote.progress import progress

HERE = Path(__file__).resolve().parent
SCENARIO = HERE.parents[1] / "scenarios" / "hello"


@dataclass(frozen=True)
class Programs:
    """The executables."""

    mote: Path
    hyper: Path
    floor: Path


def build(folder: Path) -> Programs:
    """Builds all in release mode under `folder`; raises CalledProcessError if a build fails."""
    progress(f"building under {folder}")
    mote, hyper, floor = folder / "mote", folder / "hyper", folder / "floor"
    _run("cmake", "-S", str(SCENARIO / "mote"), "-B", str(mote), "-DCMAKE_BUILD_TYPE=Release")
    _run("cmake", "--build", str(mote))
    manifest = SCENARIO / "rust-hyper" / "Cargo.toml"
    _run("cargo", "build", "--release", "--locked", "--manifest-path", str(manifest), target=hyper)
    _run("cc", "-O2", "-o", str(floor), str(HERE.parent / "engine" / "floor.c"))
    return Programs(mote=mote / "hello", hyper=hyper / "release" / "hello", floor=floor)


def _run(*command: str, target: Path | None = None) -> None:
    environment = dict(os.environ)
    if target is not None:
        environment["CARGO_TARGET_DIR"] = str(target)
    subprocess.run(command, check=True, env=environment, stdout=subprocess.DEVNULL)
