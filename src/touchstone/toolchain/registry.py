"""The tools that the lab knows: the only list of them."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable
from pathlib import Path

from touchstone.failure import UsageError
from touchstone.toolchain.tool import Found, Missing, Tool


def cache_folder() -> Path:
    """The lab's cache: toolchains and downloads that outlive a run. `TOUCHSTONE_CACHE` moves it."""
    default = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "touchstone"
    return Path(os.environ.get("TOUCHSTONE_CACHE", default))


def _jdks(executable: str) -> Iterable[Path]:
    """JDKs at the places where distributions and people put them, the newest name first."""
    homes = [Path(home) for name in ("JAVA_HOME", "JAVA25_HOME") if (home := os.environ.get(name))]
    roots = [
        Path("/usr/lib/jvm"),
        Path("/opt/java"),
        Path.home() / ".sdkman/candidates/java",
        Path.home() / ".jdks",
    ]
    homes += [home for root in roots if root.is_dir() for home in sorted(root.iterdir(), reverse=True)]
    return [home / "bin" / executable for home in homes]


def _java_home(path: Path) -> dict[str, str]:
    return {"JAVA_HOME": str(path.resolve().parent.parent)}


def _native_images() -> Iterable[Path]:
    home = os.environ.get("GRAALVM_HOME")
    return [Path(home) / "bin" / "native-image"] if home else []


def _assembled_native_image() -> Iterable[Path]:
    return [*_native_images(), cache_folder() / "native-image" / "bin" / "native-image"]


def _crane() -> Iterable[Path]:
    return [cache_folder() / "crane" / "crane"]


def _upx() -> Iterable[Path]:
    return [cache_folder() / "upx" / "upx"]


TOOLS: dict[str, Tool] = {
    tool.name: tool
    for tool in (
        Tool(
            "go",
            ("version",),
            r"go(\d+(?:\.\d+)+)",
            "install it from your distribution or as go.dev/doc/install says",
            places=lambda: [Path("/usr/local/go/bin/go"), Path.home() / "go/bin/go"],
        ),
        Tool(
            "cargo",
            ("--version",),
            r"cargo (\d+\.\d+\.\d+)",
            "install it by rustup, as rustup.rs says",
            places=lambda: [Path.home() / ".cargo/bin/cargo"],
        ),
        Tool(
            "java",
            ("-version",),
            r'version "(\d+(?:\.\d+)*)',
            "install a JDK of that version (Temurin, for example) and set JAVA_HOME",
            places=lambda: _jdks("java"),
            environment=_java_home,
        ),
        Tool(
            "mvn",
            ("--version",),
            r"Apache Maven (\d+(?:\.\d+)+)",
            "install it by `apt-get install maven` or from maven.apache.org",
        ),
        Tool("cmake", ("--version",), r"version (\d+(?:\.\d+)+)", "install it by `apt-get install cmake`"),
        Tool("ninja", ("--version",), r"(\d+(?:\.\d+)+)", "install it by `apt-get install ninja-build`"),
        Tool(
            "cxx",
            ("-dumpfullversion", "-dumpversion"),
            r"(\d+(?:\.\d+)*)",
            "install a C++20 compiler by `apt-get install g++`",
            executables=("g++", "clang++", "c++"),
        ),
        Tool(
            "cc",
            ("-dumpfullversion", "-dumpversion"),
            r"(\d+(?:\.\d+)*)",
            "install it by `apt-get install gcc`",
            ("gcc", "cc", "clang"),
        ),
        Tool("python3", ("--version",), r"Python (\d+(?:\.\d+)+)", "install Python from your distribution"),
        Tool("node", ("--version",), r"v(\d+(?:\.\d+)+)", "install it by `apt-get install nodejs`"),
        Tool(
            "native-image",
            ("--version",),
            r"(?:native-image|GraalVM)\D*(\d+(?:\.\d+)*)",
            "install GraalVM and set GRAALVM_HOME, or run `touchstone toolchain native-image`",
            places=_assembled_native_image,
            says_its_origin=True,
        ),
        Tool(
            "upx",
            ("--version",),
            r"upx (\d+(?:\.\d+)+)",
            "install upx-ucl (on Debian 12 from bookworm-backports), or run `touchstone toolchain upx`",
            places=_upx,
        ),
        Tool(
            "crane",
            ("version",),
            r"(\d+(?:\.\d+)+)",
            "run `touchstone toolchain crane`, which needs Go, or install go-containerregistry's crane",
            places=_crane,
        ),
        Tool("wrk", ("-v",), r"wrk\D+(\d+(?:\.\d+)+)", "install it by `apt-get install wrk`"),
        Tool("zstd", ("--version",), r"v(\d+(?:\.\d+)+)", "install it by `apt-get install zstd`"),
    )
}


def find_tool(name: str, wanted: str = "") -> Found | Missing:
    """Find a tool of the registry in a version range. Raises UsageError if there is no such tool."""
    if name not in TOOLS:
        near = difflib.get_close_matches(name, TOOLS, n=1)
        hint = f"did you mean {near[0]!r}? " if near else ""
        raise UsageError(f"there is no tool {name!r} in `needs`", mend=f"{hint}known tools: {', '.join(TOOLS)}")
    return TOOLS[name].find(wanted)
