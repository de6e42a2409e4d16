"""`touchstone load`: the engine by itself, as a load generator."""

from __future__ import annotations

import os

import typer

from touchstone.engine.locate import engine_path


def load(context: typer.Context) -> None:
    """Put load on a URL. Takes the engine's own options; `touchstone load --help` shows them."""
    engine = str(engine_path())
    os.execv(engine, [engine, "load", *context.args])


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(
        "load",
        context_settings={"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []},
    )(load)
