"""The generator: draws are the same for the same seed, knobs are the server's, and the table counts right."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.faults.generated.grammar import CAUGHT_BY, COMPARED, LEAST, MOST, Batch, Draw, batches
from tests.faults.generated.measure import Outcome, keep, kept, measure
from tests.faults.generated.table import BEGIN, END, text, write_between_markers
from tests.faults.plan import HERE, NAMES
from tests.faults.runner import prepare
from touchstone.judge.rules.table import RULES


def outcome(size: float, *, caught: bool, group: str = "body", found: tuple[str, ...] = ()) -> Outcome:
    return Outcome("b", "quick", group, {}, size, caught, list(found), [])


def test_draws_are_as_many_as_asked_for_and_the_same_for_a_seed() -> None:
    for sound in (False, True):
        made = batches(100, sound, seed=3)
        assert made == batches(100, sound, seed=3)
        assert made != batches(100, sound, seed=4)
        assert sum(len(batch.draws) for batch in made) == 100
        assert all(len(batch.draws) <= len(NAMES) for batch in made)


def test_faults_are_of_all_classes_and_sizes() -> None:
    drawn = [draw for batch in batches(600, False, seed=1) for draw in batch.draws if draw.group != "sound"]
    assert {draw.group for draw in drawn} == set(CAUGHT_BY) | set(COMPARED)
    sizes = [draw.size for draw in drawn]
    assert min(sizes) < 3 * LEAST
    assert MOST / 3 < max(sizes) <= 1
    assert any(draw.knobs.get("workers") for draw in drawn)
    truths = [draw.truth for draw in drawn if draw.truth]
    assert len(truths) == len(set(truths))


def test_knobs_are_the_servers_and_codes_are_rules() -> None:
    known = set(re.findall(r"X\((\w+)\)", (HERE / "server" / "server.h").read_text())) | {"skip_every"}
    for batch in (*batches(300, False, seed=2), *batches(300, True, seed=2)):
        assert all(set(draw.knobs) <= known for draw in batch.draws)
    assert {code for codes in CAUGHT_BY.values() for code in codes} <= RULES.keys()


def test_the_table_counts_by_size_and_says_from_where_on_nine_in_ten_are_caught() -> None:
    outcomes = [outcome(0.0005, caught=place % 2 == 0) for place in range(10)]
    outcomes += [outcome(0.0001, caught=False)]
    outcomes += [outcome(0.005, caught=True) for _ in range(6)]
    outcomes += [outcome(0.02, caught=place > 0) for place in range(10)]
    outcomes += [
        outcome(0.0, caught=False, group="sound", found=("timeouts",)),
        outcome(0, caught=False, group="sound"),
    ]
    told = text(outcomes)
    assert "| body | 0 of 1 | 5 of 10 | 6 of 6 | 9 of 10 | - | from 0.1 % on |" in told
    assert "2 sound draws: 1 false alarms (timeouts)" in told


def test_outcomes_are_kept_and_the_page_is_replaced(tmp_path: Path) -> None:
    keep([outcome(0.1, caught=True)], tmp_path / "kept")
    assert kept(tmp_path / "kept") == [outcome(0.1, caught=True)]
    page = tmp_path / "page.md"
    page.write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n")
    write_between_markers(page, "new")
    assert page.read_text() == f"before\n{BEGIN}\nnew\n{END}\nafter\n"


@pytest.mark.slow
def test_a_batch_is_measured_and_the_truth_is_the_servers_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOUCHSTONE_CACHE", str(tmp_path / "cache"))
    prepare(tmp_path, [])
    wrong = {"fault": 2, "fault_ppm": 50_000, "truth": 1}
    load = {"requests": [{"name": "work", "target": "/work?n={counter}", "expect": {"body": "done {counter}"}}]}
    batch = Batch("test", (Draw("sound", {}), Draw("body", wrong, 0.05, 1)), False, load=load)
    sound, faulty = measure(batch, tmp_path, "quick")
    assert faulty.caught
    assert faulty.size == pytest.approx(0.05, rel=0.2)
    assert "wrong-bodies" not in sound.found
