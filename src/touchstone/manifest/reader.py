"""Reads a manifest into its type. An error says which file, which key, what was expected and the fix."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from touchstone.failure import UsageError
from touchstone.manifest.complaint import complaints

Model = TypeVar("Model", bound=BaseModel)


class ManifestError(UsageError):
    """A manifest that cannot be used: where, what was expected, and what to do."""


def read_manifest(path: Path, model: type[Model]) -> Model:
    """Read `path` as TOML into `model`. Raises ManifestError naming file, key, expectation and fix."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError as error:
        raise ManifestError("there is no such file", where=str(path), fix=f"create {path.name} there") from error
    except UnicodeDecodeError as error:
        what = f"the manifest is not UTF-8: {error.reason} at byte {error.start}"
        raise ManifestError(what, where=str(path), fix="save it as UTF-8") from error
    except OSError as error:
        raise ManifestError(f"the manifest cannot be read: {error}", where=str(path)) from error
    return manifest_of(text, path, model)


def manifest_of(text: str, path: Path, model: type[Model]) -> Model:
    """The manifest that `text` is, at `path` now or soon. Raises ManifestError as read_manifest does."""
    try:
        data = tomllib.loads(text)
    except (RecursionError, ValueError) as error:
        # TOMLDecodeError is a ValueError; others come of numbers and dates that Python cannot hold.
        raise ManifestError(
            f"this is not TOML: {error}", where=str(path), fix="correct the syntax at that place"
        ) from error
    try:
        return model.model_validate(data, context={"folder": path.parent})
    except ValidationError as error:
        what, fix = complaints(error.errors(), model, text)
        raise ManifestError(what, where=str(path), fix=fix) from error
