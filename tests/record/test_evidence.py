"""What was not recorded is never read as nothing happened."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from pydantic import ValidationError

from touchstone.record.evidence.drain import DrainEvidence
from touchstone.record.sample import Sample

DRAIN = {"produced": {"0": 5}, "consumed": {"0": 5}, "lost": 0, "doubled": 0, "out_of_order": 0}


@pytest.mark.parametrize("key", DRAIN)
def test_a_drain_without_its_counts_cannot_be_read(key: str) -> None:
    with pytest.raises(ValidationError):
        DrainEvidence.model_validate({name: value for name, value in DRAIN.items() if name != key})


def first_version(phase: str, detail: dict[str, Any], **more: Any) -> Sample:
    document = {
        "schema": "touchstone.sample/1", "id": "0001", "phase": phase, "scenario": "s", "contender": "go/plain",
        "started_at": datetime.now(UTC), "detail": detail, **more,
    }  # fmt: skip
    return Sample.model_validate(document)


def test_the_first_version_is_read_whole() -> None:
    drain = first_version("drain", {"drain": DRAIN | {"lost": 3}, "reported": {"processed": 2}, "stopped": "exited"})
    assert drain.drain is not None
    assert (drain.drain.lost, drain.drain.reported, drain.process.stopped) == (3, {"processed": 2}, "exited")
    build = first_version("build", {"prebuilt": ["server"], "artifacts": {"server": "ab"}}, build={"key": "k"})
    assert build.build is not None
    assert (build.build.prebuilt, build.process.artifacts) == (["server"], {"server": "ab"})
    footprint = first_version("footprint", {"footprint_by_kind": {"artifacts": 5}, "jre_modules": ["java.base"]})
    assert footprint.footprint is not None
    assert (footprint.footprint.bytes_by_kind, footprint.footprint.jre_modules) == ({"artifacts": 5}, ["java.base"])
    cold = {"cold_starts": [{"first_response_s": 0.2, "cold_cache": True}]}
    boot = first_version("boot", cold, boot={"runs": [{"first_response_s": 0.1}]})
    assert boot.boot is not None
    assert boot.boot.cold[0].cold_cache


def test_figures_that_no_phase_measures_any_more_are_left_out() -> None:
    assert first_version("probe", {}, figures={"probe_right": 5.0, "probe_kept": 2.0}).figures == {"probe_kept": 2.0}
