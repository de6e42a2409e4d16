"""The strictness that every part of a manifest shares."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, StringConstraints


class Part(BaseModel):
    """A table of a manifest: unknown keys are errors, values are not coerced, and nothing changes after reading."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, use_attribute_docstrings=True)


NAME = r"^[a-z][a-z0-9]*(-[a-z0-9]+)*$"
NAME_IN_WORDS = "names are lower case, digits and single dashes, such as my-service"
Name = Annotated[str, StringConstraints(pattern=NAME)]
"""A name that may stand in a path and on a command line: lower case, digits, single dashes."""
