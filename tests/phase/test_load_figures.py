"""Which memory the figures of a load state, for one process and for several."""

from touchstone.phase.load.figures import load_figures, memory_remarks
from touchstone.record.engine import LoadResult
from touchstone.record.watch import Snapshot, Watch, WatchPoint, WatchWindow

MIB = 1 << 20


def result(processes: int, footprint: int | None) -> LoadResult:
    """A load on these processes, whose RSS is 1,331 MiB in sum."""
    rss = 1331 * MIB
    points = [WatchPoint(t=t, phase="load", rss=rss, footprint=footprint, processes=processes) for t in (0.1, 0.2)]
    window = WatchWindow(rss_peak=rss + MIB, footprint_peak=footprint)
    after = Snapshot.model_validate(points[-1].model_dump())
    return LoadResult(watch=Watch(series=points, window=window, at_load_end=after, at_idle_end=after))


def test_pages_that_forks_share_count_once_and_the_sample_says_so() -> None:
    shared = result(65, 23 * MIB)
    figures, _ = load_figures(shared)
    assert figures["rss_peak"] == figures["rss_after_load"] == figures["rss_after_idle"] == 23 * MIB
    assert "count once" in memory_remarks(shared)["rss_peak"]


def test_a_single_process_has_its_rss_and_needs_no_remark() -> None:
    alone = result(1, 1331 * MIB)
    figures, _ = load_figures(alone)
    assert figures["rss_peak"] == 1332 * MIB
    assert memory_remarks(alone) == {}


def test_what_the_kernel_does_not_say_of_several_is_not_measured() -> None:
    figures, missing = load_figures(result(65, None))
    assert "rss_peak" not in figures
    assert "smaps_rollup" in missing["rss_peak"]
