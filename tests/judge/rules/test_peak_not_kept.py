from touchstone.record.run import Run

from ..peaks import peak_run, peak_sample, rates
from ..sound import fired

FADING = rates((10, 9000), (20, 7000))
WARMING = rates((10, 7000), (20, 9000))


def run(fading: set[int]) -> Run:
    return peak_run({"a/b": [peak_sample("a/b", r, FADING if r in fading else WARMING) for r in range(1, 6)]})


def test_a_rate_that_fades_is_no_peak() -> None:
    (finding,) = fired(run({1, 2, 3, 4, 5}), "peak-not-kept")
    assert finding.figures == ["peak_time", "peak_rate"]


def test_one_disturbed_round_is_chance() -> None:
    assert not fired(run({2}), "peak-not-kept")
