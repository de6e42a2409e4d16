"""crane writes and pushes OCI images without a container engine. Go builds it into the cache."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from touchstone.failure import TouchstoneError
from touchstone.toolchain.cache import cache_folder
from touchstone.toolchain.registry import find_tool
from touchstone.toolchain.tool import FoundTool

_PACKAGE = "github.com/google/go-containerregistry/cmd/crane"
_VERSION = "v0.22.1"
"""Fixed, so that everybody's images are made alike; Go checks downloads against its checksum database."""


class CraneError(TouchstoneError):
    """crane could not be built, or does not work here."""


def fetch_crane() -> Path:
    """Build crane by `go install`, and let it say its version. Raises CraneError."""
    go = find_tool("go", ">=1.24")
    if not isinstance(go, FoundTool):
        raise CraneError(
            f"crane is built from source: {go}",
            fix="install Go, or install crane with the distribution's package manager",
        )
    home = cache_folder() / "crane"
    home.mkdir(parents=True, exist_ok=True)
    env = os.environ | {"GOBIN": str(home), "CGO_ENABLED": "0"}
    command = [str(go.path), "install", f"{_PACKAGE}@{_VERSION}"]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise CraneError(
            f"`{' '.join(command)}` ended with code {done.returncode}: {done.stderr.strip()[-400:]}",
            fix="see that Go reaches its module proxy (`go env GOPROXY`)",
        )
    target = home / "crane"
    tried = subprocess.run([str(target), "version"], capture_output=True, text=True, check=False)
    if tried.returncode != 0:
        raise CraneError(f"{target} does not run: {tried.stderr.strip()[-400:]}", fix="build it again")
    return target
