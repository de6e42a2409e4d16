"""What of a run becomes a line of a history."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from tests.judge.slices import put_slices, sliced_run
from tests.judge.sound import ended, loads, result_of, sound_run
from tests.judge.test_revisions import SIDES, pair
from touchstone.failure import InvalidRunError, UsageError
from touchstone.history import store
from touchstone.history.recording import MeasuredCommit, entries_of, entries_of_revisions
from touchstone.judge.comparison.across import ComparisonTerms
from touchstone.judge.comparison.gate import PairStatus
from touchstone.judge.comparison.pair import judge_pair
from touchstone.judge.judge import judge
from touchstone.record.evidence.slices import WarmUp

from .entries import BEGIN

COMMIT = MeasuredCommit("2" * 40, BEGIN, "A subject")


def test_each_figure_is_a_ratio_to_the_reference_of_the_same_run() -> None:
    run = sound_run(contenders={"go/std": 20_000.0, "rust/std": 24_000.0}, rounds=7, noise=0.01, seed=3)
    found = {(e.contender, e.figure): e for e in entries_of(run, COMMIT, reference="go")}
    rust, go = found["rust/std", "throughput"], found["go/std", "throughput"]
    assert rust.reference == "go/std" and rust.ratio == pytest.approx(1.2, rel=0.02)
    assert rust.ratio and rust.ratio_low and rust.ratio_high
    assert rust.ratio_low < rust.ratio < rust.ratio_high
    assert go.reference is None and go.ratio is None
    assert rust.to_tare is not None and rust.low is not None and rust.low < rust.value
    assert rust.machine["kernel"] == run.environment.kernel
    assert rust.commit == COMMIT.commit


def test_of_two_revisions_the_head_is_recorded_against_the_pinned_base() -> None:
    run, judgement = pair(0.9)
    terms = ComparisonTerms(margin=0.05, confidence=0.95, figures={"throughput": None})
    said = judge_pair(run, judgement, SIDES, terms, "sound/plain")
    entries = entries_of_revisions(run, said, COMMIT)
    assert {e.contender for e in entries} == {"sound/plain"}
    (rate,) = [e for e in entries if e.figure == "throughput"]
    assert rate.reference == f"sound/plain at {'1' * 10}"
    assert rate.ratio == pytest.approx(0.9, rel=0.02)
    with pytest.raises(InvalidRunError, match="could not be compared"):
        entries_of_revisions(run, said.model_copy(update={"standing": PairStatus.INVALID}), COMMIT)


def test_an_open_end_of_a_ratio_is_left_out(tmp_path: Path) -> None:
    rising = WarmUp(ended="budget", seconds=45.0, requests=100_000, growth=0.08)
    run = sliced_run({"go/std": 20_000.0, "rust/std": 15_000.0})
    for sample in loads(run, "rust/std"):
        if sample.slices is not None:
            put_slices(sample, [one.rate or 0.0 for one in sample.slices.slices], rising)
    judgement = judge(run)
    (compared,) = [c for c in judgement.comparisons if (c.contender, c.figure) == ("rust/std", "throughput")]
    assert compared.high is not None and math.isinf(compared.high)
    entries = entries_of(run, COMMIT, judgement=judgement)
    assert entries == entries_of(run, COMMIT)
    (rate,) = [e for e in entries if (e.contender, e.figure) == ("rust/std", "throughput")]
    assert (rate.ratio, rate.ratio_low, rate.ratio_high) == (compared.ratio, compared.low, None)
    file = tmp_path / "history.jsonl"
    store.append(file, entries)
    assert store.read(file) == entries


def test_an_invalid_figure_is_not_recorded() -> None:
    run = sound_run(contenders={"go/std": 20_000.0}, rounds=5)
    for sample in loads(run, "go/std"):
        ended(result_of(sample), wrong_body=result_of(sample).counts.sent)
    run.samples = [sample for sample in run.samples if sample.phase == "load"]
    with pytest.raises(InvalidRunError, match="no valid figure"):
        entries_of(run, COMMIT)


def test_a_reference_that_is_not_there_is_named() -> None:
    with pytest.raises(UsageError, match="go/std"):
        entries_of(sound_run(contenders={"go/std": 20_000.0}), COMMIT, reference="zig")
