"""Asks a contender's runtime about itself: a process of the same program, under the contender's own limits."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from touchstone.bench.base import Built
from touchstone.isolation.cgroup import create_cgroup
from touchstone.isolation.child import start_child

_WITHIN_S = 20.0


@dataclass(frozen=True)
class ProgramOutput:
    """What the program printed, standard error included, and how it ended."""

    text: str
    code: int


def program_name(built: Built) -> str:
    """The name of the program that is started, without its version: `python` for `/usr/bin/python3.11`."""
    return re.sub(r"[\d.]+$", "", Path(built.argv[0]).name)


def program_output(
    built: Built,
    env: Mapping[str, str],
    arguments: Sequence[str],
    *,
    cpus: Sequence[int] = (),
    quota: float | None = None,
    memory: int | None = None,
) -> ProgramOutput | None:
    """Run the contender's program with other arguments, within its CPUs, CPU quota and memory limit.

    None if it could not be started, or did not end in time.
    """
    group = create_cgroup()

    def enter() -> None:
        if group is not None:
            group.join(os.getpid())
        if cpus:
            os.sched_setaffinity(0, cpus)

    try:
        if group is not None:
            if quota is not None:
                group.limit_cpus(quota)
            if memory is not None:
                group.limit_memory(memory)
        child = start_child(
            [built.argv[0], *arguments],
            env=dict(env),
            cwd=built.cwd,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            preexec_fn=enter,
        )
        return _said_by(child)
    except (OSError, subprocess.SubprocessError):
        return None
    finally:
        if group is not None:
            group.remove()


def _said_by(child: subprocess.Popen[str]) -> ProgramOutput | None:
    try:
        text = child.communicate(timeout=_WITHIN_S)[0]
    except subprocess.TimeoutExpired:
        child.kill()
        child.communicate()
        return None
    return ProgramOutput(text, child.returncode)
