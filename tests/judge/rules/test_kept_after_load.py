import pytest

from touchstone.judge.judgement import Finding
from touchstone.judge.rules.growth import KEPT_AFTER_LOAD_FILES as FILES
from touchstone.judge.rules.growth import KEPT_AFTER_LOAD_THREADS as THREADS

from ..sound import fired, first_load, sound_run, watch_of


def kept(what: str, more: int, *, rest_s: float = 5.0, dependencies: bool = False) -> list[Finding]:
    """The findings on a contender that keeps this many more after a rest."""
    run = sound_run()
    sample = first_load(run)
    sample.dependencies = sample.dependencies[:1] if dependencies else []
    watch = watch_of(sample)
    start, over, end = watch.at_start, watch.at_load_end, watch.at_idle_end
    assert start and over and end and over.t is not None
    end.t = over.t + rest_s
    setattr(start, what, 20)
    setattr(end, what, 20 + more)
    return fired(run, "kept-after-load")


@pytest.mark.parametrize(
    ("what", "name", "most"), [("fds", "open descriptors", FILES), ("threads", "threads", THREADS)]
)
def test_what_is_kept_at_rest_is_told_beyond_what_pools_keep(what: str, name: str, most: int) -> None:
    (finding,) = kept(what, most + 1)
    assert f"5 s after the load, the service had {most + 21} {name}, {most + 1} more" in finding.statement
    assert kept(what, most) == []


def test_nobody_knows_what_is_kept_without_a_rest() -> None:
    assert kept("fds", 5_000, rest_s=0.3) == []


def test_pools_of_connections_to_a_dependency_are_no_leak() -> None:
    assert kept("fds", 200, dependencies=True) == []
    assert kept("fds", 300, dependencies=True)
