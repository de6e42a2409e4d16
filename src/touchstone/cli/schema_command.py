"""`touchstone schema`: the JSON Schemas of manifests, by which editors complete and underline."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from touchstone.cli.places import schemas_root
from touchstone.failure import UsageError
from touchstone.manifest.files import SCENARIO_SCHEMA, SCHEMA_FOLDER, STACK_SCHEMA
from touchstone.manifest.keys import FILES
from touchstone.whole_file import write_whole


def schema(
    folder: Annotated[Path, typer.Argument(help="A scenario's folder, or any other with manifests.")] = Path(),
) -> None:
    """Write the JSON Schemas of manifests into a folder, for editors.

    `new` and `import` do it. Repeat it for a scenario that an earlier version made.
    """
    if not folder.is_dir():
        raise UsageError("there is no such folder", where=str(folder), fix="name the folder of the manifests")
    for path in write_schemas(folder):
        typer.echo(path)
    typer.echo(f"first line of scenario.toml:  {SCENARIO_SCHEMA}")
    typer.echo(f"first line of a stack.toml:   {STACK_SCHEMA}")


def write_schemas(folder: Path) -> list[Path]:
    """Write the schemas of all manifests below a folder; their paths."""
    held = folder / SCHEMA_FOLDER
    held.mkdir(exist_ok=True)
    written = []
    for name in FILES:
        source = (schemas_root() / name).with_suffix(".json")
        written.append(held / source.name)
        write_whole(written[-1], source.read_text(encoding="utf-8"))
    return written


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("schema")(schema)
