"""Every gate's twin is kept on its machine, and counted with its like."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
import scipy.stats

from tests.judge.test_twin import RATE, TERMS, judged_pair, run_with_twin
from touchstone.failure import InvalidRunError, UsageError
from touchstone.history import store
from touchstone.history.recording import MeasuredCommit, entries_of_revisions
from touchstone.history.twins import TWIN, count_twin
from touchstone.judge.comparison.across import ComparisonTerms
from touchstone.judge.statistics.distributions import greatest_chance

from .entries import BEGIN

BASE = MeasuredCommit("1" * 40, BEGIN, "A subject")


def kept(
    path: Path, number: int, *, twin: float = 1.0, terms: ComparisonTerms = TERMS, memory: int | None = None
) -> str:
    """The count after one more gate, as `different of gates`."""
    run = run_with_twin(twin=twin)
    run.plan.run_id = f"run-{number}"
    if memory is not None:
        run.environment.memory = memory
    found = count_twin(run, judged_pair(run, terms), BASE, terms, path)
    assert found is not None
    return f"{found.different} of {found.gates}"


def test_gates_are_counted_with_their_like(tmp_path: Path) -> None:
    path = tmp_path / "cache/twins.jsonl"
    assert kept(path, 1) == "0 of 1"
    assert kept(path, 2, twin=0.8) == "1 of 2"
    assert kept(path, 3, memory=2**40) == "0 of 1"
    wide = ComparisonTerms(margin=0.4, confidence=0.95, figures={"throughput": None})
    assert kept(path, 4, terms=wide) == "0 of 3", "what differs is a question of the margin of the gate that counts"
    entries = store.read(path)
    assert {e.reference for e in entries} == {TWIN}
    assert all(e.value == pytest.approx(RATE, rel=0.3) and e.ratio_low is not None for e in entries)


@pytest.mark.parametrize(
    ("low", "high", "counts"), [(1.1, math.inf, "1"), (0.0, 0.9, "1"), (0.0, math.inf, "0"), (0.9, math.inf, "0")]
)
def test_an_interval_with_an_open_end_is_kept_and_counted_alike_in_each_later_gate(
    low: float, high: float, counts: str, tmp_path: Path
) -> None:
    run = run_with_twin()
    judged = judged_pair(run)
    assert judged.twin is not None
    judged.twin.changes = [change.model_copy(update={"low": low, "high": high}) for change in judged.twin.changes]
    found = count_twin(run, judged, BASE, TERMS, tmp_path / "twins.jsonl")
    assert found is not None and f"{found.different} of {found.gates}" == f"{counts} of 1"
    assert kept(tmp_path / "twins.jsonl", 2) == f"{counts} of 2"


def test_a_run_without_a_twin_adds_nothing(tmp_path: Path) -> None:
    run = run_with_twin()
    run.samples = [s for s in run.samples if s.contender != "twin/plain"]
    run.plan.twin = None
    assert count_twin(run, judged_pair(run), BASE, TERMS, tmp_path / "twins.jsonl") is None
    assert not (tmp_path / "twins.jsonl").exists()


def test_a_damaged_store_is_named_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "twins.jsonl"
    kept(path, 1)
    path.write_text(path.read_text() + "{half\n")
    with pytest.raises(UsageError, match="line 2"):
        kept(path, 2)


def test_a_gate_without_a_verdict_is_no_point_of_a_history() -> None:
    run = run_with_twin(twin=0.8)
    with pytest.raises(InvalidRunError):
        entries_of_revisions(run, judged_pair(run), BASE)


@pytest.mark.parametrize(("hits", "trials"), [(0, 1), (0, 298), (0, 299), (1, 10), (5, 212), (9, 10), (3, 3), (0, 0)])
def test_the_bound_is_clopper_and_pearsons(hits: int, trials: int) -> None:
    found = greatest_chance(hits, trials, 0.95)
    expected = 1.0 if hits >= trials else scipy.stats.beta.ppf(0.95, hits + 1, trials - hits)
    assert found == pytest.approx(expected, rel=1e-9)
    assert (greatest_chance(0, 298, 0.95) < 0.01, greatest_chance(0, 299, 0.95) < 0.01) == (False, True)
