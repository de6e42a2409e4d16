"""The files of a service, read as what they are: text, JSON, TOML, YAML, and what stands in them."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import yaml

from touchstone.failure import UsageError

_COMMENT = re.compile(r"""("(?:\\.|[^"\\])*")|//[^\n]*|/\*.*?\*/""", re.DOTALL)
_LAST_COMMA = re.compile(r"""("(?:\\.|[^"\\])*")|,(?=\s*[}\]])""")
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
_MOST_BYTES = 200_000


def read_text(path: Path) -> str:
    """The text of one of the service's files; in UTF-16 where its first bytes say so. Raises UsageError."""
    try:
        held = path.read_bytes()
        return held.decode("utf-16" if held.startswith(_UTF_16) else "utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"it cannot be read: {error}", where=str(path), fix="correct the file") from error


def read_source(path: Path, most_bytes: int = _MOST_BYTES) -> str:
    """The beginning of a source. Empty if it is not a regular file or cannot be read: one file spoils nothing."""
    if not path.is_file():
        return ""
    try:
        with path.open("rb") as opened:
            return opened.read(most_bytes).decode("utf-8", "ignore")
    except OSError:
        return ""


def read_json(path: Path, *, comments: bool = False) -> dict[str, Any]:
    """What a JSON file of the service holds; empty if that is not an object. Raises UsageError.

    With `comments` these may stand in it, and a comma behind the last of a list.
    """
    plain = read_text(path)
    for left_out in (_COMMENT, _LAST_COMMA) if comments else ():
        plain = left_out.sub(lambda found: found[1] or "", plain)
    try:
        held = json.loads(plain)
    except (json.JSONDecodeError, RecursionError) as error:
        raise UsageError(f"it is not JSON: {error}", where=str(path), fix="correct the file") from error
    return held if isinstance(held, dict) else {}


def read_toml(path: Path) -> dict[str, Any]:
    """What a TOML file of the service holds. Raises UsageError."""
    try:
        return tomllib.loads(read_text(path))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise UsageError(f"it is not TOML: {error}", where=str(path), fix="correct the file") from error


def read_yaml(path: Path) -> list[dict[str, Any]]:
    """The documents of a YAML file that are mappings. None of a template, which is not YAML yet."""
    try:
        return [one for one in yaml.safe_load_all(read_text(path)) if isinstance(one, dict)]
    except (yaml.YAMLError, UsageError, ValueError, RecursionError):
        return []


def table_at(held: object, *keys: str) -> dict[str, Any]:
    """The table under these keys; empty if there is none, or something else stands there."""
    for key in keys:
        held = held.get(key) if isinstance(held, dict) else None
    return held if isinstance(held, dict) else {}


def texts_at(held: object, *keys: str) -> list[str]:
    """The texts of a list under these keys; a single text is a list of one."""
    *above, last = keys
    found = table_at(held, *above).get(last)
    return [one for one in (found if isinstance(found, list) else [found]) if isinstance(one, str)]


def text_at(held: object, *keys: str) -> str:
    """The text under these keys; empty if there is none, or something else stands there."""
    *above, last = keys
    found = table_at(held, *above).get(last)
    return found if isinstance(found, str) else ""


def tables_at(held: object, key: str) -> list[dict[str, Any]]:
    """The tables of a list under a key; none if something else stands there."""
    found = table_at(held).get(key)
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []
