"""The strictness that every part of a manifest shares."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from pydantic import BaseModel, ConfigDict, StringConstraints


class ManifestModel(BaseModel):
    """A table of a manifest: unknown keys are errors, values are not coerced, and nothing changes after reading.

    Docstrings of parts and of their fields are the reference that `touchstone check --keys` and docs/manifests.md show.
    """

    model_config = ConfigDict(
        extra="forbid", frozen=True, strict=True, allow_inf_nan=False, use_attribute_docstrings=True
    )


@dataclass(frozen=True)
class DocumentedAs:
    """In the `Annotated` of a type: what the reference says of its values, in place of its constraints."""

    one: str
    many: str


NAME = r"^[a-z][a-z0-9]*(-[a-z0-9]+)*$"
NAME_IN_WORDS = "names are lower case, digits and single dashes, such as my-service"
Name = Annotated[
    str,
    StringConstraints(pattern=NAME),
    DocumentedAs("name (lower case, digits, single dashes)", "names (lower case, digits, single dashes)"),
]
"""A name that may stand in a path and on a command line: lower case, digits, single dashes."""
