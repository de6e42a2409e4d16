"""The rounds of several machines become rounds of one run."""

from __future__ import annotations

from pathlib import Path

from tests.judge.sound import sound_run
from touchstone.cluster.fleet import merge
from touchstone.judge.judge import judge
from touchstone.record.store import RunStore, load_run


def written(folder: Path) -> Path:
    run = sound_run()
    store = RunStore(folder)
    store.open(run.plan, run.environment)
    for sample in run.samples:
        sample.id = store.next_id(sample.phase, sample.contender, sample.load, sample.round)
        store.add(sample)
    store.write_state(ended=True)
    return folder


def test_each_machines_rounds_are_rounds_of_the_whole(tmp_path: Path) -> None:
    parts = {name: written(tmp_path / name) for name in ("one", "two")}
    merge(parts, tmp_path / "both")
    alone, both = load_run(parts["one"]), load_run(tmp_path / "both")
    assert both.plan.rounds == 2 * alone.plan.rounds == len(both.plan.orders)
    in_rounds = [sample for sample in alone.samples if sample.round is not None]
    assert len([sample for sample in both.samples if sample.round is not None]) == 2 * len(in_rounds)
    assert len([s for s in both.samples if s.round is None]) == len(alone.samples) - len(in_rounds)
    for number in range(1, both.plan.rounds + 1):
        machines = {sample.process.placement.machine for sample in both.samples if sample.round == number}
        assert len(machines) == 1, "a ratio within a round is one machine's"
    assert (tmp_path / "both/machines/two/plan.json").exists()
    fewer, more = judge(alone), judge(both)
    for one, two in zip(fewer.comparisons, more.comparisons, strict=True):
        assert (one.contender, one.figure) == (two.contender, two.figure)
    assert {f.code for f in more.findings} <= {f.code for f in fewer.findings}
