"""Where touchstone keeps what outlives a run."""

from __future__ import annotations

import os
from pathlib import Path


def cache_folder() -> Path:
    """Touchstone's cache: toolchains, installations, builds and downloads. `TOUCHSTONE_CACHE` moves it."""
    default = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "touchstone"
    return Path(os.environ.get("TOUCHSTONE_CACHE", default))
