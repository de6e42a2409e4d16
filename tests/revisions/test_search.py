"""What a search for a commit has on disk is read, whichever version wrote it."""

from __future__ import annotations

import json

import pytest
from pydantic import ValidationError

from touchstone.revisions.bisect import BisectionState, Side

STEP = {"commit": "c" * 40, "subject": "Faster", "side": "good", "ratio": 1.01, "low": 0.99, "high": 1.03}
SEARCH = {"good": "a" * 40, "bad": "b" * 40, "figure": "cpu_per_request", "load": "ping", "steps": [STEP]}


def test_steps_of_an_earlier_version_are_read() -> None:
    search = BisectionState.model_validate_json(json.dumps(SEARCH))
    (step,) = search.steps
    assert (step.side, step.ratio, step.low, step.high) == (Side.GOOD, 1.01, 0.99, 1.03)
    assert (step.contender, step.baseline, step.figure, step.load) == ("c" * 40, "a" * 40, "cpu_per_request", "ping")
    assert BisectionState.model_validate_json(search.model_dump_json()) == search


@pytest.mark.parametrize("steps", [[3], 4, [{}], None, [{"commit": []}]])
def test_what_is_no_search_is_refused(steps: object) -> None:
    for document in (SEARCH | {"steps": steps}, SEARCH | {"figure": ["x"], "steps": steps}, steps):
        with pytest.raises(ValidationError):
            BisectionState.model_validate_json(json.dumps(document))
