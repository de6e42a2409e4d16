"""Reads samples of older versions.

`touchstone.sample/1` kept its evidence in an untyped `detail`; `/2` had a field for each phase's evidence and for each
fact about the process, and the load as the scenario states it and as the engine's job had it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from touchstone.record.load_spec import spec_of_job
from touchstone.vocabulary.figure import RETIRED

_KEPT = (
    *("machine", "confinement", "artifacts", "left_in_work", "oom_kills", "stopped"),
    *("train", "hold", "floor", "drain"),
)
"""Entries of `detail` that have the same name and shape as a part of a sample today."""


_PROCESS = (
    *("placement", "argv", "env", "artifacts", "left_in_work", "server_exit", "foreign_listener", "stopped"),
    *("cpu_at_end", "oom_kills", "confinement", "log_bytes", "log_file_bytes"),
)
_EVIDENCE = ("train", "build", "capacity", "hold", "drain", "floor", "footprint", "probe", "profile")


def upgraded(document: dict[str, Any]) -> dict[str, Any]:
    """A sample's document as today's version writes it; a document of today's version itself."""
    version = document.get("schema", "touchstone.sample/3")
    if version == "touchstone.sample/1":
        return _of_2(_of_1(document))
    return _of_2(document) if version == "touchstone.sample/2" else document


def _of_2(document: Mapping[str, Any]) -> dict[str, Any]:
    sample = {**document, "schema": "touchstone.sample/3"}
    process = {name: sample.pop(name) for name in _PROCESS if name in sample}
    files = dict(sample.pop("files", None) or {})
    log = files.pop("log", None)
    process["id"] = log.removeprefix("logs/").removesuffix(".log") if log else sample.get("id", "")
    sample |= {"files": files, "process": process | {"log": log}, "evidence": _evidence(sample)}
    result, stated = sample.pop("result", None) or {}, sample.pop("load_spec", None) or {}
    sent = spec_of_job(result.get("job") or {})
    if sample.get("phase") != "drain" and (stated or result):
        # The engine's job goes before what the scenario states, but for the form of the requests.
        sample["spec"] = (
            sent | stated | {name: value for name, value in sent.items() if name != "requests" and value is not None}
        )
    return sample


def _evidence(sample: dict[str, Any]) -> dict[str, Any] | None:
    """The evidence of a version 2 sample, with the fields beside its result moved out."""
    found = {
        name: sample.pop(name, None) for name in (*_EVIDENCE, "boot", "boots_in_turn", "cold_boot", "peak", "slices")
    }
    result = sample.get("result")
    if found["peak"]:
        return {"kind": "peak", **found["peak"], "result": result}
    if found["boot"]:
        runs, cold = ((found[name] or {}).get("runs") or [] for name in ("boot", "cold_boot"))
        return {"kind": "boot", "runs": runs, "cold": cold, "in_turn": found["boots_in_turn"] or False}
    for name in _EVIDENCE:
        if found[name]:
            return {"kind": name, **found[name]}
    return {"kind": "load", "result": result, "slices": found["slices"]} if result or found["slices"] else None


def _of_1(document: Mapping[str, Any]) -> dict[str, Any]:
    """A sample's document in the form of version 2.

    Left out is what means nothing today: figures that no phase measures any more, and the conformance matrix, whose
    cases were not grouped by requirement.
    """
    sample = dict(document)
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
