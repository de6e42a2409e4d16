"""Where the engine's executable is."""

from __future__ import annotations

import hashlib
import os
from functools import cache
from pathlib import Path

from touchstone.failure import TouchstoneError

_NAME = "touchstone-engine"


@cache
def engine_path() -> Path:
    """The engine: `TOUCHSTONE_ENGINE`, or this checkout's release build. Raises TouchstoneError if there is none."""
    if named := os.environ.get("TOUCHSTONE_ENGINE"):
        path = Path(named)
        if not os.access(path, os.X_OK):
            raise TouchstoneError(
                f"TOUCHSTONE_ENGINE names {named}, which cannot be executed",
                mend="unset it, or name the engine's executable",
            )
        return path
    for folder in (*Path(__file__).resolve().parents, Path.cwd()):
        path = folder / "target" / "release" / _NAME
        if os.access(path, os.X_OK):
            return path
    raise TouchstoneError("the engine is not built", mend="run `make setup`, which needs a Rust toolchain")


@cache
def engine_digest() -> str:
    """The SHA-256 of the engine: results of different engines are not compared silently."""
    return hashlib.sha256(engine_path().read_bytes()).hexdigest()
