"""Results of engines that counted errors of connections among those of requests."""

from typing import Any

import pytest

from touchstone.record.engine import LoadResult
from touchstone.record.evidence.slices import Slice

OLD: dict[str, Any] = {
    "schema": "touchstone.load/1",
    "counts": {
        "sent": 125,
        "completed": 123,
        "ok": 120,
        "unanswered": 1,
        "errors": {"wrong_status": 3, "timeout": 1, "closed_idle": 236, "refused": 2, "connect_failed": 0},
    },
    "connections": {"asked": 16, "reconnects": 236},
}


def test_connections_are_no_failed_requests() -> None:
    result = LoadResult.model_validate(OLD)
    assert (result.counts.ok, result.counts.wrong, result.counts.failed) == (120, 3, 2)
    assert result.counts.error_share == 5 / 125
    errors = result.connections.errors
    assert (errors.closed_idle, errors.refused, errors.connect_failed) == (236, 2, 0)
    assert result.connections.reconnects == 236
    assert result.connections.closed is None
    assert result.is_of_older_engine


def test_what_was_upgraded_is_read_again_as_it_is() -> None:
    result = LoadResult.model_validate(OLD)
    again = LoadResult.model_validate_json(result.model_dump_json(by_alias=True))
    assert again == result


@pytest.mark.parametrize("counts", [{}, {"sent": 5, "ok": 5}, {"sent": 5, "ok": 4, "failed": 1}])
def test_counts_without_classes_are_read(counts: dict[str, int]) -> None:
    result = LoadResult.model_validate({"counts": counts})
    assert result.counts.failed == counts.get("failed", 0)


def test_a_slice_has_its_connections_apart() -> None:
    turn = Slice.model_validate(
        {
            "index": 0,
            "lap_phase": "load",
            "begin": 0,
            "sending_end": 1,
            "end": 1,
            "errors": {"closed_idle": 4, "reset": 1},
        }
    )
    assert (turn.errors, turn.connection_errors) == ({"reset": 1}, {"closed_idle": 4})
