"""The tools that touchstone knows: the only list of them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from touchstone.failure import UsageError, did_you_mean
from touchstone.toolchain.cache import cache_folder
from touchstone.toolchain.known import compiled, jvm, profilers, scripting
from touchstone.toolchain.tool import FoundTool, MissingTool, Tool


def _crane() -> Iterable[Path]:
    return [cache_folder() / "crane" / "crane"]


def _upx() -> Iterable[Path]:
    return [cache_folder() / "upx" / "upx"]


_OWN = (
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
    Tool(
        "podman-or-docker",
        # docker's daemon: a client alone runs nothing.
        ("version", "--format", "{{.Server.Version}}"),
        r"^(\d+(?:\.\d+)+)",
        "install podman by `apt-get install podman`, or docker, and let its daemon run",
        executables=("podman", "docker"),
    ),
    Tool("wrk", ("-v",), r"wrk\D+(\d+(?:\.\d+)+)", "install it by `apt-get install wrk`"),
    Tool("zstd", ("--version",), r"v(\d+(?:\.\d+)+)", "install it by `apt-get install zstd`"),
)

_LANGUAGES = (*compiled.TOOLS, *jvm.TOOLS, *scripting.TOOLS)

TOOLS: dict[str, Tool] = {tool.name: tool for tool in (*_LANGUAGES, *profilers.TOOLS, *_OWN)}

_OTHER_NAMES = {
    "nodejs": "node",
    "rust": "cargo",
    "rustc": "cargo",
    "golang": "go",
    "jdk": "java",
    "openjdk": "java",
    "maven": "mvn",
    "pip": "python",
    "g++": "cxx",
    "clang++": "cxx",
    "bundler": "bundle",
    "net": "dotnet",
}
"""What people call a tool, and the name of its command, by which it stands in `needs`."""


def find_tool(name: str, wanted: str = "") -> FoundTool | MissingTool:
    """Find a tool of the registry in a version range. Raises UsageError if there is no such tool."""
    if name not in TOOLS:
        raise UsageError(f"there is no tool {name!r} in `needs`", fix=known_tools(name))
    return TOOLS[name].find(wanted)


def known_tools(name: str) -> str:
    """What to write in place of a tool that is not known."""
    hint = did_you_mean(_OTHER_NAMES.get(name, name), TOOLS)
    return f"{hint}known tools: {', '.join(sorted(TOOLS))}"
