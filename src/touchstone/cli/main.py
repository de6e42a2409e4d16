"""`touchstone`: the root command, and the only place where errors become exit codes."""

from __future__ import annotations

import sys
from typing import Any

import typer
from rich.console import Console
from rich.markup import escape

import touchstone
from touchstone.cli.commands import LazyGroup
from touchstone.failure import ExitCode, TouchstoneError

_CommandLineError: type[Any] = typer.BadParameter.__mro__[1]
"""Any error in the words of a command line; typer does not export it."""

app = typer.Typer(
    name="touchstone",
    cls=LazyGroup,
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


def main() -> None:
    """Run the command line; every error that is ours becomes a message and an exit code."""
    errors = Console(stderr=True)
    try:
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
    except OSError as error:
        fix = "see that it can be read and written, and that the disk has room"
        told = TouchstoneError(error.strerror or str(error), where=error.filename, fix=fix)
        errors.print(f"[bold red]touchstone:[/] {escape(str(told))}", highlight=False)
        sys.exit(told.exit_code)
    except _CommandLineError as error:
        error.show()
        sys.exit(ExitCode.USAGE)


if __name__ == "__main__":
    main()
