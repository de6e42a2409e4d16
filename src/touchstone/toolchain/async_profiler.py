"""async-profiler, from Maven Central: the library that samples a JVM from within."""

from __future__ import annotations

import hashlib
import os
import platform
import subprocess
import tempfile
import zipfile
from pathlib import Path

from touchstone.failure import TouchstoneError
from touchstone.toolchain.cache import cache_folder
from touchstone.toolchain.registry import find_tool
from touchstone.toolchain.tool import FoundTool

VERSION = "4.4"
"""Fixed, so that everybody's stacks are named alike."""
_SHA256 = "47f321b8cdbadda2c281a612f6ac245254c81a02ce578abf782a53170ea40b37"
_ARTIFACT = f"tools.profiler:async-profiler:{VERSION}"
_PLUGIN = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1"
_MACHINES = {"x86_64": "linux-x64", "aarch64": "linux-arm64"}

HOW_TO_GET = "run `touchstone toolchain async-profiler`, which needs Maven"


class AsyncProfilerError(TouchstoneError):
    """async-profiler could not be installed, or differs from the known version."""


def library() -> Path:
    """Where the library is once it has been got."""
    return cache_folder() / "async-profiler" / VERSION / "libasyncProfiler.so"


def fetch_async_profiler() -> Path:
    """Let Maven get the jar, check it, and unpack the library of this machine. Raises AsyncProfilerError."""
    maven = find_tool("mvn", ">=3.6.3")
    if not isinstance(maven, FoundTool):
        raise AsyncProfilerError(f"async-profiler is fetched by Maven: {maven}", fix="install Maven")
    inside = _MACHINES.get(platform.machine())
    if inside is None:
        raise AsyncProfilerError(
            f"async-profiler has no library for {platform.machine()}", fix="profile on x86-64 or AArch64"
        )
    with tempfile.TemporaryDirectory(prefix="touchstone-async-profiler-") as folder:
        words = [f"{_PLUGIN}:copy", f"-Dartifact={_ARTIFACT}", f"-DoutputDirectory={folder}"]
        command = [str(maven.path), "-q", "-B", *words]
        env = os.environ | maven.environment
        done = subprocess.run(command, env=env, capture_output=True, text=True, check=False, cwd=folder)
        jar = Path(folder) / f"async-profiler-{VERSION}.jar"
        if done.returncode != 0 or not jar.is_file():
            output = (done.stderr or done.stdout).strip()[-400:]
            raise AsyncProfilerError(
                f"`{' '.join(command)}` ended with code {done.returncode}: {output}",
                fix="see that Maven reaches its repository; `mvn -U` forgets an earlier failure",
            )
        if hashlib.sha256(jar.read_bytes()).hexdigest() != _SHA256:
            raise AsyncProfilerError(
                f"the jar of {_ARTIFACT} does not have the checksum that touchstone knows",
                fix="remove tools/profiler from Maven's local repository and try again; if it stays, do not use it",
            )
        target = library()
        target.parent.mkdir(parents=True, exist_ok=True)
        with zipfile.ZipFile(jar) as archive:
            (target.parent / "new").write_bytes(archive.read(f"{inside}/libasyncProfiler.so"))
        (target.parent / "new").replace(target)
    return target
