"""Languages whose programs are run from their sources, and what installs their packages."""

from __future__ import annotations

from pathlib import Path

from touchstone.toolchain.packaged import BUN, DENO, PNPM, UV, YARN
from touchstone.toolchain.tool import Tool

_NUMBER = r"(\d+(?:\.\d+)+)"
_PYTHON_ITSELF = ("-c", "import sys; print(sys.executable)")

TOOLS = (
    Tool(
        "node",
        ("--version",),
        rf"v{_NUMBER}",
        "install it by `apt-get install nodejs`, or as nodejs.org says",
        where_it_is=("-p", "process.execPath"),
    ),
    Tool("npm", ("--version",), _NUMBER, "install it by `apt-get install npm`; it comes with nodejs.org's Node.js"),
    Tool(
        "pnpm",
        ("--version",),
        _NUMBER,
        "run `touchstone toolchain pnpm`, or install it as pnpm.io/installation says",
        places=PNPM.places,
    ),
    Tool(
        "yarn",
        ("--version",),
        _NUMBER,
        "run `touchstone toolchain yarn`, or install it as yarnpkg.com says",
        places=YARN.places,
    ),
    Tool(
        "bun",
        ("--version",),
        _NUMBER,
        "run `touchstone toolchain bun`, or install it as bun.sh says",
        places=lambda: [Path.home() / ".bun/bin/bun", *BUN.places()],
    ),
    Tool(
        "deno",
        ("--version",),
        rf"deno {_NUMBER}",
        "run `touchstone toolchain deno`, or install it as deno.com says",
        places=lambda: [Path.home() / ".deno/bin/deno", *DENO.places()],
    ),
    Tool(
        "python3",
        ("--version",),
        rf"Python {_NUMBER}",
        "install Python from your distribution",
        where_it_is=_PYTHON_ITSELF,
    ),
    Tool(
        "python",
        ("--version",),
        rf"Python {_NUMBER}",
        "install Python from your distribution",
        executables=("python3", "python"),
        where_it_is=_PYTHON_ITSELF,
    ),
    Tool(
        "uv",
        ("--version",),
        rf"uv {_NUMBER}",
        "run `touchstone toolchain uv`, or install it as docs.astral.sh/uv says",
        places=lambda: [Path.home() / ".local/bin/uv", *UV.places()],
    ),
    Tool("ruby", ("--version",), rf"ruby {_NUMBER}", "install it by `apt-get install ruby`"),
    Tool("bundle", ("--version",), _NUMBER, "install it by `apt-get install ruby-bundler`"),
    Tool("php", ("--version",), rf"PHP {_NUMBER}", "install it by `apt-get install php-cli`"),
    Tool("composer", ("--version", "--no-ansi"), rf"version {_NUMBER}", "install it by `apt-get install composer`"),
    Tool("elixir", ("--version",), rf"Elixir {_NUMBER}", "install it by `apt-get install elixir`"),
    Tool("mix", ("--version",), rf"Mix {_NUMBER}", "install it by `apt-get install elixir`"),
)
