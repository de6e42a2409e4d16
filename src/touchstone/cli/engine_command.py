"""`touchstone load` and `touchstone probe`: the engine by itself, with its own options."""

from __future__ import annotations

import os
from collections.abc import Callable

import typer

from touchstone.engine.locate import engine_path

_PASS_ON = {"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []}
_COMMANDS = {
    "load": "Put load on a URL, as wrk does and with more care. The engine's own options: touchstone load --help",
    "probe": "Probe a server's HTTP/1.1 conformance. The engine's own options: touchstone probe --help",
}


def _handing_over(name: str) -> Callable[[typer.Context], None]:
    def command(context: typer.Context) -> None:
        engine = str(engine_path())
        os.execv(engine, [engine, name, *context.args])

    return command


def register(app: typer.Typer) -> None:
    """Add the commands."""
    for name, text in _COMMANDS.items():
        app.command(name, help=text, context_settings=_PASS_ON)(_handing_over(name))
