from touchstone.judge.judgement import Severity
from touchstone.record.run import Run

from ..sound import MIB, codes, fired, first_load, sound_run, watch_of


def forked(run: Run, footprint: int) -> None:
    """Lets the server of a load be 64 processes whose RSS is 60 MiB in sum."""
    sample = first_load(run)
    watch = watch_of(sample)
    for point in watch.series:
        point.processes, point.rss, point.footprint = 64, 60 * MIB, footprint
    watch.window.footprint_peak = footprint
    sample.figures["rss_peak"] = float(footprint)


def test_forks_that_share_their_pages() -> None:
    run = sound_run()
    forked(run, 23 * MIB)
    (finding,) = fired(run, "pages-shared")
    assert finding.severity is Severity.NOTE
    assert "64 processes hold 23" in finding.statement
    assert codes(run) == {"pages-shared"}


def test_forks_that_share_next_to_nothing() -> None:
    run = sound_run()
    forked(run, 58 * MIB)
    assert codes(run) == set()
