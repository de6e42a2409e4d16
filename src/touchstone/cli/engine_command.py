"""`touchstone probe`: runs the engine's probe with the engine's options."""

from __future__ import annotations

import os

import typer

from touchstone.engine.locate import engine_path

PASS_ON = {"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []}
_HELP = "Probe conformance to HTTP/1.1 or HTTP/2. The engine's own options: touchstone probe --help"


def probe(context: typer.Context) -> None:
    """Replace this process by the engine's probe. Does not return."""
    engine = str(engine_path())
    os.execv(engine, [engine, "probe", *context.args])


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("probe", help=_HELP, context_settings=PASS_ON)(probe)
