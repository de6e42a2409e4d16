"""What a finding shows of the errors that a load kept."""

from touchstone.judge.reading.traffic import SHOWN, first_errors
from touchstone.record.engine import FirstError, LoadResult


def test_a_finding_shows_the_first_few_of_each_class() -> None:
    kept = [
        FirstError.model_validate({"class": name, "t": t})
        for t in range(SHOWN + 2)
        for name in ("wrong_body", "wrong_header")
    ]
    result = LoadResult(first_errors=kept)
    assert [e["t"] for e in first_errors(result, "wrong_body")] == list(range(SHOWN))
    assert len(first_errors(result)) == 2 * SHOWN
