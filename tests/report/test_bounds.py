"""What each contender does at its bounds, in a sentence."""

from __future__ import annotations

import pytest

from touchstone.record.evidence.bounds import HeadLimit, QuietConnection
from touchstone.report.bounds import farewell, refusal


@pytest.mark.parametrize(
    ("limit", "words"),
    [
        (None, ""),
        (HeadLimit(accepted=9), ""),
        (HeadLimit(accepted=9, refused=10, status=431), "with 431"),
        (HeadLimit(accepted=9, refused=10, instead="reset"), "by a reset"),
        (HeadLimit(accepted=9, refused=10, instead="nothing"), "by no answer at all"),
    ],
)
def test_a_refusal_has_its_status_or_what_came_instead(limit: HeadLimit | None, words: str) -> None:
    assert refusal(limit) == words


def test_a_farewell_is_that_of_most_connections() -> None:
    closed, answered = QuietConnection(closed_s=1), QuietConnection(closed_s=1, status=408)
    assert farewell([closed, answered, answered]) == "408"
    assert farewell([closed, closed, answered]) == "no response"
    assert farewell([QuietConnection(closed_s=1, reset=True)]) == "a reset"
    assert farewell([closed, answered]) == "no response"
    assert farewell([answered, closed]) == "408"
