"""Builds several contenders at the same time, for the preset `quick`.

Each is built in a process of its own, so that signals reach it and orphans stay its own. What they build goes into the
cache, where the build phase finds it. A build that fails there is made again by the phase, which reports its error.
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import psutil
from rich.console import Console

from touchstone.bench.base import Bench, MeasurementOptions, sampling
from touchstone.failure import TouchstoneError
from touchstone.isolation.child import end_child, start_child
from touchstone.manifest.catalogue import Contender, read_scenario_folder, select_contenders
from touchstone.phase.build.phase import build_variant, is_built
from touchstone.plan.preset import PROFILES
from touchstone.record.process import Placement
from touchstone.record.store import RunStore
from touchstone.run.progress import LogDisplay

_MEMORY_EACH = 2 * 1024**3
"""Compilers of the built-in stacks take up to 1.5 GB."""
_LOOK_S = 0.2
_PR_SET_PDEATHSIG = 1


def build_at_once(scenario: Path, bench: Bench, contenders: Sequence[Contender], tell: Callable[[str], None]) -> None:
    """Build the contenders that are not in the cache, several at the same time.

    `tell` is called with each that is built. One more than CPUs, since a build's last steps use one CPU, and fewer
    where memory is short. Native images are left to the build phase, which makes one at a time.
    """
    wanted = [one for one in contenders if one.variant.build and not one.variant.native and not is_built(bench, one)]
    if len(wanted) < 2:
        return
    room = min(len(os.sched_getaffinity(0)) + 1, psutil.virtual_memory().available // _MEMORY_EACH)
    running: dict[str, subprocess.Popen[bytes]] = {}
    begin = time.monotonic()
    try:
        while wanted or running:
            while wanted and len(running) < max(1, room):
                contender = wanted.pop(0)
                running[contender.name] = _start(scenario, contender, bench.scratch / f"build-{len(wanted)}")
            bench.watcher.step(f"building {', '.join(running)}")
            time.sleep(_LOOK_S)
            for name in [name for name, child in running.items() if child.poll() is not None]:
                if running.pop(name).returncode == 0:
                    tell(f"  {name} is built after {time.monotonic() - begin:.0f} s")
    finally:
        for child in running.values():
            child.terminate()
        for child in running.values():
            end_child(child)


def _start(scenario: Path, contender: Contender, folder: Path) -> subprocess.Popen[bytes]:
    # -P: a module of the folder where the user happens to be is not imported.
    command = [sys.executable, "-P", "-m", __name__, scenario.absolute(), contender.name, folder, os.getpid()]
    return start_child(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def _build(scenario: Path, name: str, folder: Path) -> int:
    """Build one contender into the cache. Returns 0 if it succeeded."""
    catalogue = read_scenario_folder(scenario)
    (contender,) = select_contenders(catalogue, [name])
    bench = Bench(
        scenario=catalogue.scenario,
        loads={},
        profile=PROFILES["quick"],
        placement=Placement(),
        store=RunStore(folder),
        scratch=folder,
        seed=0,
        watcher=LogDisplay(Console(quiet=True)),
        options=MeasurementOptions(timed_builds=False),
    )
    with sampling(bench, "build", name) as sample:
        build_variant(bench, contender.stack, contender.variant_name, sample, bench.log(sample.process))
    return 0 if sample.failure is None else 1


def _as_interrupt(_signal: int, _frame: object) -> None:
    # Once: each thread of the parent that ends sends it again (prctl(2)), and would break off what ends the build.
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise KeyboardInterrupt


def _main(scenario: str, name: str, folder: str, parent: str) -> int:
    signal.signal(signal.SIGTERM, _as_interrupt)
    # The build must not outlive touchstone that asked for it.
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != int(parent):
        return 1
    try:
        return _build(Path(scenario), name, Path(folder))
    except (KeyboardInterrupt, TouchstoneError):
        return 1


if __name__ == "__main__":
    sys.exit(_main(*sys.argv[1:]))
