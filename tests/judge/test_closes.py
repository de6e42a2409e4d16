"""The bounds that a server's closes show."""

import pytest

from tests.judge.slices import put_slices
from tests.judge.sound import first_load, result_of, sound_run
from touchstone.judge.reading.closes import advice, bounds, in_words
from touchstone.record.connections import ClosedByServer, Closes
from touchstone.record.sample import Sample


def closing(**kinds: Closes) -> Sample:
    """A load whose server closed connections in these ways."""
    sample = first_load(sound_run())
    result_of(sample).connections.closed = ClosedByServer(**kinds)
    return sample


def closes(
    responses: tuple[int, int], rested: tuple[float, float] = (0.0, 0.0), count: int = 9, **status: int
) -> Closes:
    """Closes after these numbers of responses and these rests, at least and at most."""
    return Closes(
        count=count,
        responses_least=responses[0],
        responses_most=responses[1],
        rested_least_s=rested[0],
        rested_most_s=rested[1],
        status={code.removeprefix("s"): number for code, number in status.items()},
    )


@pytest.mark.parametrize(
    ("kind", "seen", "words"),
    [
        ("announced", closes((100, 100)), "closes a connection after 100 responses"),
        ("announced", closes((1, 1)), "closes a connection after each response"),
        ("announced", closes((950, 1000)), "closes a connection after 950 to 1,000 responses"),
        ("under_request", closes((1001, 1001)), "closes a connection after 1,001 responses"),
        ("idle", closes((1, 7), (2.0, 2.1)), "closes a connection that is idle for 2 s"),
        ("idle", closes((1, 7), (2.0, 3.5)), "closes a connection that is idle for 2 s to 3.5 s"),
        ("unused", closes((0, 0), (2.0, 2.1)), "closes a connection without a request after 2 s"),
        (
            "notified",
            closes((0, 0), (2.0, 2.1), s408=9),
            "closes a connection without a request after 2 s (status 408)",
        ),
    ],
)
def test_a_bound_is_named(kind: str, seen: Closes, words: str) -> None:
    sample = closing(**{kind: seen})
    assert [bound.words for bound in bounds(sample)] == [words]
    assert in_words(bounds(sample)) == f". The server {words}"


@pytest.mark.parametrize(
    ("kind", "seen"),
    [
        ("under_request", closes((3, 977))),
        ("announced", closes((100, 100), count=1)),
        ("idle", closes((1, 9), (0.001, 0.4))),
    ],
)
def test_closes_that_follow_no_rule_show_no_bound(kind: str, seen: Closes) -> None:
    assert bounds(closing(**{kind: seen})) == []


def test_the_server_whose_default_it_is_comes_alone() -> None:
    (bound,) = bounds(closing(announced=closes((1001, 1001))))
    said = advice([bound]) or ""
    assert "lighttpd" in said and "Apache" not in said
    (other,) = bounds(closing(announced=closes((37, 37))))
    said = advice([other]) or ""
    assert "nginx" in said and "Apache" in said
    assert advice([]) is None


def test_connections_beyond_a_number_are_closed_at_once() -> None:
    sample = closing(idle=closes((1, 30), (0.0, 0.01)))
    result = result_of(sample)
    result.connections.asked = 500
    for point in result.series:
        point.connections = 200
    (bound,) = bounds(sample)
    assert bound.words == "keeps about 200 idle connections"
    assert "maxIdleConnections" in bound.advice


def test_pipelining_that_is_not_served() -> None:
    sample = closing(under_request=closes((0, 16)))
    result = result_of(sample)
    sample.spec.pipeline = 16
    result.counts.repeated = result.counts.sent // 2
    assert "pipelined" in in_words(bounds(sample))


def test_between_turns_a_close_is_seen_late() -> None:
    sample = closing(idle=closes((1, 7), (2.0, 3.1)))
    put_slices(sample, [2000.0] * 12)
    assert bounds(sample)[0].words == "closes a connection that is idle for 2 s or less"


def test_older_records_show_none() -> None:
    assert bounds(first_load(sound_run())) == []
