"""Builds mote's hello and the hyper contender that it is compared with."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from progress import progress

SCENARIO = Path(__file__).resolve().parents[2] / "scenarios" / "hello"


@dataclass(frozen=True)
class Programs:
    """The two executables."""

    mote: Path
    hyper: Path


def build(folder: Path) -> Programs:
    """Builds both in release mode under `folder`; raises CalledProcessError if a build fails."""
    progress(f"building under {folder}")
    mote, hyper = folder / "mote", folder / "hyper"
    _run("cmake", "-S", str(SCENARIO / "mote"), "-B", str(mote), "-DCMAKE_BUILD_TYPE=Release")
    _run("cmake", "--build", str(mote))
    manifest = SCENARIO / "rust-hyper" / "Cargo.toml"
    _run("cargo", "build", "--release", "--locked", "--manifest-path", str(manifest), target=hyper)
    return Programs(mote=mote / "hello", hyper=hyper / "release" / "hello")


def _run(*command: str, target: Path | None = None) -> None:
    environment = dict(os.environ)
    if target is not None:
        environment["CARGO_TARGET_DIR"] = str(target)
    subprocess.run(command, check=True, env=environment, stdout=subprocess.DEVNULL)
