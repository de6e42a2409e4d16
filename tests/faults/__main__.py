"""`python -m tests.faults`: plant every fault, measure every sound set-up, print what was caught and what was not."""

from __future__ import annotations

import argparse
import ctypes
import multiprocessing
import signal
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

from rich.console import Console
from rich.table import Table

from tests.faults.catalogue import SETUPS
from tests.faults.plan import compiled
from tests.faults.runner import MACHINE_NOISE, Outcome, carry_out, prepare
from tests.faults.setup import Setup

_PR_SET_PDEATHSIG = 1
"""The option of prctl(2) that asks for a signal at the parent's end."""


def main() -> int:
    """Exit code 0 if every fault was caught and no sound set-up accused, otherwise 1."""
    options = _options()
    chosen = [s for s in SETUPS if not options.only or s.id in options.only]
    if unknown := set(options.only) - {s.id for s in SETUPS}:
        raise SystemExit(f"there is no set-up {', '.join(sorted(unknown))}")
    console = Console(width=None if sys.stdout.isatty() else 160)
    with tempfile.TemporaryDirectory(prefix="touchstone-faults-") as folder:
        home = Path(options.keep or folder).resolve()
        compiled(home / "programs")
        prepare(home, chosen)
        done: list[Outcome] = []
        for outcome in _outcomes(chosen, home, jobs=options.jobs):
            done.append(outcome)
            if not outcome.right or options.verbose:
                console.print(f"  {len(done)}/{len(chosen)} {outcome.setup.id}: {_verdict(outcome)}", highlight=False)
    order = {setup.id: place for place, setup in enumerate(chosen)}
    done.sort(key=lambda outcome: order[outcome.setup.id])
    console.print(_table(done))
    _conclude(console, done)
    return 0 if all(outcome.right for outcome in done) else 1


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument(
        "--only", action="append", default=[], metavar="ID", help="only this set-up; may be given again"
    )
    parser.add_argument("--jobs", type=int, default=1, help="set-ups side by side; more than 1 disturbs each other")
    parser.add_argument("--keep", metavar="FOLDER", help="keep scenarios and records here")
    parser.add_argument("--verbose", action="store_true", help="a line for each set-up as it ends")
    return parser.parse_args()


def _outcomes(setups: Sequence[Setup], home: Path, *, jobs: int) -> Iterator[Outcome]:
    """Each in a process of its own kind, whose main thread may take signals as the lab does."""
    places = {setup.id: setup for setup in setups}
    context = multiprocessing.get_context("fork")
    with ProcessPoolExecutor(jobs, mp_context=context, initializer=_end_with_parent) as pool:
        for future in as_completed([pool.submit(_one, name, home) for name in places]):
            outcome = future.result()
            yield outcome


def _end_with_parent() -> None:
    """End this worker when its parent ends: it would wait for ever on a pipe that it holds open itself."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _one(name: str, home: Path) -> Outcome:
    setup = next(s for s in SETUPS if s.id == name)
    outcome = carry_out(setup, home)
    # An edit is a closure and cannot go back to the parent.
    outcome.setup = Setup(setup.id, setup.says, setup.expects, setup.planted, needs_quiet=setup.needs_quiet)
    return outcome


def _verdict(outcome: Outcome) -> str:
    if outcome.error:
        return f"not carried out: {outcome.error}"
    if outcome.missed:
        fired = ", ".join(sorted({f.code for f in outcome.findings})) or "nothing"
        how = "not to be planted on a busy machine:" if outcome.unplanted else "missed"
        return f"{how} {', '.join(outcome.missed)}; what fired: {fired}"
    if outcome.false:
        return "false alarm: " + "; ".join(f"{f.code} ({f.severity}): {f.statement}" for f in outcome.false)
    if outcome.setup.sound:
        aside = ", ".join(sorted({f.code for f in outcome.aside}))
        return f"left alone; by the machine's noise: {aside}" if aside else "left alone"
    return "caught: " + ", ".join(outcome.setup.expects)


def _table(outcomes: Sequence[Outcome]) -> Table:
    table = Table(title="Planted faults and sound set-ups")
    for heading in ("set-up", "what is wrong or odd", "planted in", "outcome", "s"):
        table.add_column(heading, overflow="fold", justify="right" if heading == "s" else "left")
    for outcome in outcomes:
        setup = outcome.setup
        table.add_row(
            setup.id,
            setup.says,
            "sound" if setup.sound else setup.planted,
            _verdict(outcome),
            f"{outcome.took_s:.0f}",
            style=None if outcome.right else "red",
        )
    return table


def _conclude(console: Console, outcomes: Sequence[Outcome]) -> None:
    faults = [o for o in outcomes if not o.setup.sound]
    sound = [o for o in outcomes if o.setup.sound]
    caught, unplanted = sum(o.right for o in faults), sum(o.unplanted for o in faults)
    console.print(
        f"caught {caught} of {len(faults)} faults, missed {len(faults) - caught - unplanted}, "
        f"could not plant {unplanted} since the machine was busy; "
        f"false alarms on {sum(not o.right for o in sound)} of {len(sound)} sound set-ups",
        highlight=False,
    )
    if excused := [o.setup.id for o in sound if o.aside]:
        console.print(
            f"After {len(excused)} of the sound set-ups the machine was measured as noisy. What such a machine brings "
            "about by itself was left aside there: " + ", ".join(sorted(MACHINE_NOISE)),
            highlight=False,
        )


if __name__ == "__main__":
    raise SystemExit(main())
