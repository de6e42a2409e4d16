"""Settings files that a service reads at start, and the variables that override them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from touchstone.failure import UsageError
from touchstone.intake.service.reading import read_json, read_toml, read_yaml
from touchstone.intake.service.sources import Source

_FOLDERS = ("configuration", "config", "configs", "settings", "conf", "etc", ".")
_OF_DEVELOPERS = re.compile(
    r"(?:\w*[-_.])?(?:local|dev|development|test|testing|ci|example|sample|k8s)\b.*", re.IGNORECASE
)
_NO_SETTINGS = re.compile(
    r"(?:docker-)?compose.*|.*lock.*|package|tsconfig.*|openapi.*|swagger.*|mkdocs|codecov|_config|\..*"
)
_CONFIG_RS = re.compile(r'Environment::with_prefix\(\s*"(\w+)"\s*\)(.{0,200})', re.DOTALL)
_SEPARATOR = re.compile(r'\.(prefix_)?separator\(\s*"([^"]+)"\s*\)')
_VIPER = re.compile(r"\bviper\.AutomaticEnv\(\)|\.AutomaticEnv\(\)")
_VIPER_PREFIX = re.compile(r'\.SetEnvPrefix\(\s*"(\w+)"')


@dataclass(frozen=True)
class FileSetting:
    """A value of such a file, by the keys that lead to it."""

    keys: tuple[str, ...]
    value: Any
    file: Path
    variable: str = ""
    """What stands above it; empty if nothing does."""


def settings_of(service: Path, sources: Sequence[Source]) -> list[FileSetting]:
    """The settings of a service in Rust or Go: in other languages sources name the variables themselves."""
    language = next((source.lexer for source in sources), "")
    if language not in ("rust", "go"):
        return []
    files = [path for folder in _FOLDERS for path in sorted((service / folder).glob("*")) if _is_settings(path)]
    # What is deployed is read above all; what developers have, last.
    files.sort(key=lambda path: (_OF_DEVELOPERS.match(path.stem) is not None, "prod" not in path.stem))
    naming = _naming(sources)
    return [
        FileSetting(keys, value, path.relative_to(service), naming[0] + naming[1].join(keys).upper() if naming else "")
        for path in files
        for held in _held(path)
        for keys, value in _values(held)
    ]


def _is_settings(path: Path) -> bool:
    return (
        path.suffix in (".yaml", ".yml", ".toml", ".json") and path.is_file() and not _NO_SETTINGS.fullmatch(path.stem)
    )


def _naming(sources: Sequence[Source]) -> tuple[str, str] | None:
    """How variables begin, and what stands between their keys, with the crate `config` and with Viper."""
    for source in sources:
        for found in source.found(_CONFIG_RS):
            separators = {bool(before): text for before, text in _SEPARATOR.findall(found[2])}
            between = separators.get(False, ".")
            return found[1].upper() + separators.get(True, between if False in separators else "_"), between
        if any(source.found(_VIPER)):
            prefix = next((one[1] for other in sources for one in other.found(_VIPER_PREFIX)), "")
            return f"{prefix}_".upper() if prefix else "", "_"
    return None


def _held(path: Path) -> list[dict[str, Any]]:
    try:
        if path.suffix == ".toml":
            return (
                [read_toml(path)] if path.stem not in ("Cargo", "fly", "railway", "rustfmt", "clippy", "deny") else []
            )
        return [read_json(path)] if path.suffix == ".json" else read_yaml(path)
    except UsageError:
        return []


def _values(held: dict[str, Any], above: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    for key, value in held.items():
        if isinstance(value, dict) and len(above) < 3:
            yield from _values(value, (*above, str(key)))
        elif isinstance(value, str | int) and not isinstance(value, bool):
            yield (*above, str(key)), value
