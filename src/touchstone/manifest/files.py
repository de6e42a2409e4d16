"""Files that make a folder a scenario or stack, and scenarios below a folder, by name."""

from __future__ import annotations

from pathlib import Path

SCENARIO_FILE = "scenario.toml"
STACK_FILE = "stack.toml"
SCHEMA_FOLDER = ".schema"
"""The folder in a scenario's folder that holds the JSON Schemas of its manifests, for editors."""
SCENARIO_SCHEMA = f"#:schema ./{SCHEMA_FOLDER}/scenario.json"
STACK_SCHEMA = f"#:schema ../{SCHEMA_FOLDER}/stack.json"
"""The first line of a manifest, by which Taplo and Even Better TOML find its schema without a network."""


def scenarios_in(root: Path) -> dict[str, Path]:
    """The scenario folders below `root`, by their folder's name."""
    return {path.parent.name: path.parent for path in sorted(root.glob(f"*/{SCENARIO_FILE}"))}
