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
from touchstone.record.secret import shown_text

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
        sys.exit(_tell(errors, error))
    except typer.Exit as error:
        sys.exit(error.exit_code)
    except (KeyboardInterrupt, typer.Abort):
        errors.print("touchstone: interrupted")
        sys.exit(ExitCode.INTERRUPTED)
    except BrokenPipeError:
        sys.exit(ExitCode.OK)
    except OSError as error:
        fix = "see that it can be read and written, and that the disk has room"
        sys.exit(_tell(errors, TouchstoneError(error.strerror or str(error), where=str(error.filename or ""), fix=fix)))
    except _CommandLineError as error:
        error.show()
        sys.exit(ExitCode.USAGE)


def _tell(errors: Console, error: TouchstoneError) -> ExitCode:
    """Print what happened, without the secrets that it quotes, and what to do; the exit code."""
    told = TouchstoneError(shown_text(error.what), where=error.where and shown_text(error.where), fix=error.fix)
    errors.print(f"[bold red]touchstone:[/] {escape(str(told))}", highlight=False)
    return error.exit_code


if __name__ == "__main__":
    main()
