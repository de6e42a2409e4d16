"""`touchstone mcp`: tools for assistants over the Model Context Protocol."""

from __future__ import annotations

import typer

from touchstone.failure import UsageError


def mcp() -> None:
    """Serve tools for assistants over standard input and output (Model Context Protocol).

    Needs the extra `assistant`. Assistants can read runs and check manifests. A run starts after a person confirms it.
    """
    try:
        from touchstone.assistant.server import server  # noqa: PLC0415 - its SDK is an extra
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "mcp":
            raise
        fix = "pip install 'touchstone-lab[assistant]'"
        raise UsageError("the MCP SDK is not installed", fix=fix) from error
    server().run("stdio")


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("mcp")(mcp)
