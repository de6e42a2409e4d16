"""`touchstone`: the root command, and the only place where errors become exit codes."""

from __future__ import annotations

import contextlib
import gc
import os
import sys
import threading
import warnings
from io import TextIOWrapper
from typing import Any

import typer
from rich.console import Console
from rich.markup import escape

import touchstone
from touchstone.cli.commands import CarriedError, LazyGroup
from touchstone.failure import ExitCode, TouchstoneError
from touchstone.record.secret import shown_command, shown_text

_CommandLineError: type[Any] = typer.BadParameter.__mro__[2]
"""Any error in the words of a command line; typer does not export it."""

_YOUNG_OBJECTS = 100_000
"""New objects before the garbage collector looks for cycles. A command makes many that stay and few cycles: at Python's
700 it spends up to a tenth of its time on looking."""

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
    """Run the command line; every error becomes a message and an exit code."""
    gc.set_threshold(_YOUNG_OBJECTS)
    if not sys.warnoptions:
        warnings.simplefilter("ignore")  # They are for who develops a library.
    failed_threads: list[threading.ExceptHookArgs] = []
    threading.excepthook = failed_threads.append
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(
                errors="replace"
            )  # A name or a sign that the terminal's encoding lacks stops no command.
    code = _run()
    for one in failed_threads:
        code = code or ExitCode.FAILED
        _tell(_defect(one.exc_value or SystemError(one.exc_type.__name__)))
    _drop_unwritten()
    sys.exit(code)


def _run() -> int:
    try:
        code = app(standalone_mode=False)
        if (output := sys.stdout) is not None:
            output.flush()
    except (Exception, KeyboardInterrupt) as error:
        return _code_of(error.error if isinstance(error, CarriedError) else error)
    except SystemExit as end:  # rich makes one of a broken pipe.
        if isinstance(end.__context__, BrokenPipeError):
            return ExitCode.UNREAD
        raise
    return code if isinstance(code, int) else ExitCode.OK


def _code_of(error: BaseException) -> int:
    """Print the error and return the exit code."""
    if isinstance(error, TouchstoneError):
        return _tell(error)
    if isinstance(error, KeyboardInterrupt | typer.Abort):
        with contextlib.suppress(OSError):
            Console(stderr=True).print("touchstone: interrupted")
        return ExitCode.INTERRUPTED
    if isinstance(error, _CommandLineError):
        error.show()
        return int(error.exit_code)
    if isinstance(error, OSError):
        from touchstone.cli.crash import reader_is_gone, system_failure  # noqa: PLC0415 - as below

        if isinstance(error, BrokenPipeError) and reader_is_gone():
            return ExitCode.UNREAD
        if refused := system_failure(error):
            return _tell(refused)
    return _tell(_defect(error))


def _drop_unwritten() -> None:
    """Discard output that cannot be written. Python would otherwise print a traceback when it exits."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _defect(error: BaseException) -> TouchstoneError:
    from touchstone.cli.crash import defect  # noqa: PLC0415 - only who meets an error waits for it

    return defect(error, " ".join(["touchstone", *shown_command(sys.argv[1:])]))


def _tell(error: TouchstoneError) -> ExitCode:
    """Print the error without secrets and the advice. Returns the exit code."""
    safe = TouchstoneError(shown_text(error.what), where=error.where and shown_text(error.where), fix=error.fix)
    with contextlib.suppress(OSError):
        line = f"[bold red]touchstone:[/] {escape(str(safe))}"
        Console(stderr=True).print(line, highlight=False, soft_wrap=True)
    return error.exit_code


if __name__ == "__main__":
    main()
