import pytest

from touchstone.judge.judgement import Severity
from touchstone.record.engine import MediaTypeCount
from touchstone.record.run import Run

from ..sound import codes, fired, first_load, result_of, sound_run


def answered(*types: tuple[int, str | None, int]) -> Run:
    """The first contender's responses had these statuses and media types, with counts."""
    run = sound_run()
    request = result_of(first_load(run)).requests[0]
    request.media_types = [MediaTypeCount(status=s, media_type=name, responses=n) for s, name, n in types]
    return run


@pytest.mark.parametrize("other", ["text/html", None])
def test_a_single_response_of_another_type_is_named(other: str | None) -> None:
    (finding,) = fired(answered((200, "text/plain", 199_999), (200, other, 1)), "media-type-varies")
    assert finding.severity is Severity.SUSPECT
    assert f"varies: text/plain (199,999), {other or 'none'} (1)" in finding.statement


@pytest.mark.parametrize(
    "run",
    [
        sound_run(),
        answered((200, "text/plain", 9)),
        answered((200, None, 9)),
        answered((200, "text/plain", 9), (404, "text/html", 3)),
    ],
    ids=["not looked at", "one", "none", "by status"],
)
def test_one_type_for_each_status_is_sound(run: Run) -> None:
    assert "media-type-varies" not in codes(run)
