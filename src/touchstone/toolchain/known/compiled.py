"""Languages whose programs are compiled ahead, and what builds them."""

from __future__ import annotations

from pathlib import Path

from touchstone.toolchain.packaged import ZIG
from touchstone.toolchain.tool import Tool

TOOLS = (
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
    Tool("cmake", ("--version",), r"version (\d+(?:\.\d+)+)", "install it by `apt-get install cmake`"),
    Tool("ninja", ("--version",), r"(\d+(?:\.\d+)+)", "install it by `apt-get install ninja-build`"),
    Tool("make", ("--version",), r"Make (\d+(?:\.\d+)+)", "install it by `apt-get install make`"),
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
    Tool("gcc", ("-dumpfullversion", "-dumpversion"), r"(\d+(?:\.\d+)*)", "install it by `apt-get install gcc`"),
    Tool("clang", ("--version",), r"clang version (\d+(?:\.\d+)*)", "install it by `apt-get install clang`"),
    Tool(
        "zig",
        ("version",),
        r"(\d+(?:\.\d+)+)",
        "run `touchstone toolchain zig`, or install it as ziglang.org/download says",
        places=ZIG.places,
    ),
    Tool(
        "dotnet",
        ("--version",),
        r"(\d+(?:\.\d+)+)",
        "install the .NET SDK as learn.microsoft.com/dotnet/core/install says",
        places=lambda: [Path.home() / ".dotnet/dotnet", Path("/usr/share/dotnet/dotnet")],
    ),
)
