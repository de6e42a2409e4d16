"""The file of a mix, for `touchstone load --mix`: read and checked as a load of a scenario is."""

from __future__ import annotations

from pathlib import Path

from touchstone.check.problem import in_order, refuse
from touchstone.check.requests import check_mix_requests
from touchstone.check.templates import check_mix_templates
from touchstone.manifest.mix import Mix
from touchstone.manifest.reader import read_manifest


def read_mix(file: Path) -> Mix:
    """The mix in `file`. Raises ManifestError naming file, line and fix."""
    mix = read_manifest(file, Mix)
    refuse(
        in_order([*check_mix_templates(file, (), mix), *check_mix_requests(file, (), mix)]),
        "the mix",
        "the load begins when it is sound",
    )
    return mix
