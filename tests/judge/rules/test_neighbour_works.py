from ..slices import resting_run
from ..sound import codes, fired


def test_its_neighbour_lost_that_cpu() -> None:
    # Each slice of 250 ms has one CPU; a fifth of half of 75 ms is 3 % of it.
    found = fired(resting_run(lambda name: 0.2 if name == "rust/plain" else 0.0), "neighbour-works")
    assert {f.contender for f in found} == {"go/plain"}
    assert "most of it by rust/plain" in found[0].statement


def test_little_is_nothing_to_speak_of() -> None:
    # 0.75 % of it.
    assert "neighbour-works" not in codes(resting_run(lambda name: 0.05 if name == "rust/plain" else 0.0))
    assert codes(resting_run(lambda _name: 0.01)) == set()
