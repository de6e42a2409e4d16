"""The probe phase: what becomes of the engine's report, and how the scenario's keys reach the engine."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from touchstone.failure import TouchstoneError
from touchstone.manifest.scenario import Probe
from touchstone.phase.probe.phase import figures, flags
from touchstone.record.evidence.probe import ProbeReport

_KEPT = {"total": 9, "kept": 3, "broken": 5, "dangerous": 1, "breaks": 2, "unclear": 1, "other": 1}


def _report(**changes: Any) -> ProbeReport:
    kept = _KEPT | {"inconclusive": 0, "not_applicable": 1}
    document: dict[str, Any] = {"target": "/hello", "kept": {"MUST": kept}, "requirements": [], "cases": []}
    return ProbeReport.model_validate(document | changes)


def test_figures_count_requirements_by_risk() -> None:
    assert figures(_report()) == {
        "probe_dangerous": 1,
        "probe_breaks": 2,
        "probe_unclear": 1,
        "probe_must_broken": 5,
        "probe_should_broken": 0,
        "probe_kept": 3,
    }


def test_who_died_gets_no_figures_but_the_case() -> None:
    with pytest.raises(TouchstoneError, match="host-missing"):
        figures(_report(died_in="host-missing"))


def test_a_service_that_refuses_gets_no_figures_but_the_case() -> None:
    refused = {"after": "host-missing", "what": "a plain GET was answered 429 in place of 200"}
    with pytest.raises(TouchstoneError, match="host-missing a plain GET was answered 429"):
        figures(_report(refused=refused))


def test_keys_become_flags() -> None:
    probe = Probe.model_validate(
        {
            "target": "/notes",
            "headers": {"Authorization": "Bearer x"},
            "post": {
                "target": "/notes",
                "body": '{"text":"a"}',
                "content_type": "application/json",
                "headers": {"X-A": "b"},
            },
        }
    )
    assert list(flags(probe, owned=True)) == [
        "--header=Authorization: Bearer x",
        "--unsafe",
        "--post=/notes",
        '--post-body={"text":"a"}',
        "--post-type=application/json",
        "--post-header=X-A: b",
    ]
    assert list(flags(Probe(target="/hello"), owned=True)) == ["--unsafe"]
    # Data of a service that the lab did not start may be somebody's.
    assert list(flags(probe, owned=False)) == ["--header=Authorization: Bearer x"]


@pytest.mark.parametrize(
    "keys",
    [
        {"path": "/hello"},
        {"target": "hello"},
        {"target": "/hello", "post_path": "/x"},
        {"target": "/hello", "post": {"target": "/x", "body": ""}},
        {"target": "/a b"},
    ],
)
def test_slips_in_the_manifest_are_refused(keys: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Probe.model_validate(keys)
