"""One run of what several servers' machines have measured: each machine's rounds are rounds of the whole."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

from touchstone.record.run import Run
from touchstone.record.sample import Sample
from touchstone.record.store import RunStore, load_run


def merge(parts: Mapping[str, Path], out: Path) -> None:
    """Put the runs of several machines, by the machine's name, together in `out`.

    Rounds get new numbers, alternating between the machines. What is measured once a run is the first machine's; all
    that a machine has measured stays below `machines/`. Raises StoreError.
    """
    runs = {name: load_run(folder) for name, folder in parts.items()}
    first, *_ = runs.values()
    store = RunStore(out)
    store.started_at = min(run.started_at for run in runs.values())
    rounds = max(run.plan.rounds for run in runs.values())
    orders = [run.plan.orders[number] for number in range(rounds) for run in runs.values() if number < run.plan.rounds]
    store.open(first.plan.model_copy(update={"rounds": len(orders), "orders": orders}), first.environment)
    for number, (name, run) in enumerate(runs.items()):
        shutil.copytree(parts[name], out / "machines" / name)
        for sample in _renumbered(run, name, number, len(runs)):
            sample.id = store.next_id(sample.phase, sample.contender, sample.load, sample.round)
            store.add(sample)
    notes = [f"{name}: {note}" for name, run in runs.items() for note in run.notes]
    store.write_state(ended=True, interrupted=any(run.interrupted for run in runs.values()), notes=notes)


def _renumbered(run: Run, name: str, number: int, count: int) -> Iterator[Sample]:
    for sample in run.samples:
        if sample.round is None:
            if number > 0:
                continue
        else:
            sample.round = (sample.round - 1) * count + number + 1
        sample.process.placement.machine = name
        sample.files = {kind: f"machines/{name}/{place}" for kind, place in sample.files.items()}
        sample.process.log = sample.process.log and f"machines/{name}/{sample.process.log}"
        yield sample
