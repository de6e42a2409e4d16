"""Where the engine's executable is."""

from __future__ import annotations

import hashlib
import os
import sys
import sysconfig
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from touchstone.failure import TouchstoneError

_NAME = "touchstone-engine"


@cache
def engine_path() -> Path:
    """The engine: `TOUCHSTONE_ENGINE`, or the first of its places. Raises TouchstoneError if there is none."""
    if named := os.environ.get("TOUCHSTONE_ENGINE"):
        path = Path(named)
        if not os.access(path, os.X_OK):
            raise TouchstoneError(
                f"TOUCHSTONE_ENGINE names {named}, which cannot be executed",
                fix="unset it, or name the engine's executable",
            )
        return path
    package = Path(__file__).resolve().parents[1]
    for path in _places(package):
        if os.access(path, os.X_OK):
            return path
    fix = (
        "run `make setup`, which needs a Rust toolchain"
        if (package.parents[1] / "Cargo.toml").is_file()
        else "install touchstone-lab again, from a wheel for this machine"
    )
    raise TouchstoneError("the engine is not there", fix=fix)


def _places(package: Path) -> Iterator[Path]:
    """The release build of a checkout, then where an installer lays the commands of a wheel."""
    yield package.parents[1] / "target" / "release" / _NAME
    yield Path(sysconfig.get_path("scripts")) / _NAME
    yield Path(sysconfig.get_path("scripts", sysconfig.get_preferred_scheme("user"))) / _NAME
    yield package.parent / "bin" / _NAME  # pip install --target
    yield Path(sys.argv[0]).resolve().parent / _NAME


@cache
def engine_digest() -> str:
    """The SHA-256 of the engine: results of different engines are not compared silently."""
    return hashlib.sha256(engine_path().read_bytes()).hexdigest()
