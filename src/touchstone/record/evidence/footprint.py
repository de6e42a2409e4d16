"""What a contender needs on an empty Linux."""

from __future__ import annotations

from typing import Literal

from touchstone.record.base import Record


class OciLayout(Record):
    """The image that was written."""

    digest: str
    written_by: str
    port: int | None
    """Where a container of it listens unless PORT is given to it; None of an image that touchstone did not write."""


class FootprintEvidence(Record):
    """What was gathered in the empty root in which the contract was checked."""

    kind: Literal["footprint"] = "footprint"
    jre_modules: list[str] | None = None
    """Modules of the JRE, if it needs one."""
    jre_modules_declared: list[str] = []
    """Modules that the manifest adds to those found in the jars."""
    bytes_by_kind: dict[str, int] = {}
    files: dict[str, int] = {}
    """Bytes by file."""
    oci: OciLayout | None = None
