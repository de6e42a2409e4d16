"""Reads samples of `touchstone.sample/1`, which kept their evidence in an untyped `detail`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from touchstone.vocabulary.figure import RETIRED

_KEPT = (
    *("machine", "confinement", "artifacts", "left_in_work", "oom_kills", "stopped"),
    *("train", "hold", "floor", "drain"),
)
"""Entries of `detail` that have the same name and shape as a part of a sample today."""


def upgraded(document: Mapping[str, Any]) -> dict[str, Any]:
    """A sample's document as today's version writes it; one that is of today is returned as it is.

    Left out is what means nothing today: figures that no phase measures any more, and the conformance matrix, whose
    cases were not grouped by requirement.
    """
    sample = dict(document)
    if sample.get("schema") != "touchstone.sample/1":
        return sample
    sample["schema"] = "touchstone.sample/2"
    for key in ("figures", "not_measured"):
        sample[key] = {name: value for name, value in (sample.get(key) or {}).items() if name not in RETIRED}
    detail: dict[str, Any] = sample.pop("detail", None) or {}
    sample |= {key: detail[key] for key in _KEPT if detail.get(key) is not None}
    if sample.get("drain") and "reported" in detail:
        sample["drain"] = sample["drain"] | {"reported": detail["reported"]}
    if sample.get("failure"):
        failure = dict(sample["failure"])
        sample["failure"] = failure | {"fix": failure.pop("mend", None)}
    if "cold_starts" in detail:
        sample["cold_boot"] = {"runs": detail["cold_starts"]}
    if sample.get("build") and detail.get("prebuilt"):
        sample["build"] = sample["build"] | {"prebuilt": detail["prebuilt"]}
    if sample.get("phase") == "footprint":
        sample["footprint"] = _footprint(detail)
    return sample


def _footprint(detail: Mapping[str, Any]) -> dict[str, Any]:
    names = {
        "jre_modules": "jre_modules",
        "jre_modules_declared": "jre_modules_declared",
        "footprint_by_kind": "bytes_by_kind",
        "footprint_files": "files",
        "oci": "oci",
    }
    return {now: detail[then] for then, now in names.items() if then in detail}
