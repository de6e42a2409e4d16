"""`touchstone`: the root command, and the only place where errors become exit codes."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

import typer
from rich.console import Console
from rich.markup import escape

import touchstone
from touchstone.failure import ExitCode, TouchstoneError

_MODULES = {
    "run": "run",
    "list": "list",
    "show": "show",
    "report": "report",
    "explain": "explain",
    "compare": "compare",
    "claims": "claims",
    "article": "article",
    "new": "new",
    "doctor": "doctor",
    "toolchain": "toolchain",
    "load": "engine",
    "probe": "engine",
}
"""The module of each command, in the order of the help. Only the module of the command that is called is loaded: some
need libraries for statistics and plots, for which nobody should wait who lists scenarios."""

_CommandLineError: type[Any] = typer.BadParameter.__mro__[1]
"""Any error in the words of a command line; typer does not export it."""

app = typer.Typer(
    name="touchstone",
    help="A benchmark lab for HTTP service stacks. It refuses bad numbers.",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"touchstone {touchstone.__version__}")
        raise typer.Exit


@app.callback()
def _root(
    _version_flag: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Show the version and exit."
    ),
) -> None:
    """Measure HTTP service stacks, and say which differences are real."""


def _load_commands(words: list[str]) -> None:
    """Register the command that is called; all of them when none is, for the help and for completion."""
    called = [_MODULES[word] for word in words[:1] if word in _MODULES]
    for module in dict.fromkeys(called or _MODULES.values()):
        import_module(f"touchstone.cli.{module}_command").register(app)


def main() -> None:
    """Run the command line; every error that is ours becomes a message and an exit code."""
    errors = Console(stderr=True)
    try:
        _load_commands(sys.argv[1:])
        code = app(standalone_mode=False)
        sys.exit(code if isinstance(code, int) else ExitCode.OK)
    except TouchstoneError as error:
        errors.print(f"[bold red]touchstone:[/] {escape(str(error))}", highlight=False)
        sys.exit(error.exit_code)
    except typer.Exit as error:
        sys.exit(error.exit_code)
    except (KeyboardInterrupt, typer.Abort):
        errors.print("touchstone: interrupted")
        sys.exit(ExitCode.INTERRUPTED)
    except BrokenPipeError:
        sys.exit(ExitCode.OK)
    except _CommandLineError as error:
        error.show()
        sys.exit(ExitCode.USAGE)
