"""Runs one command of the assembly."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from touchstone.native_image.requirements import AssemblyError


def run_step(command: Sequence[str], *, cwd: Path | None = None, env: Mapping[str, str] | None = None, fix: str) -> str:
    """Run a command to its end; return its standard output. Raises AssemblyError with its last words."""
    done = subprocess.run(
        command,
        cwd=cwd,
        env={**os.environ, **(env or {})},
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    if done.returncode != 0:
        text = (done.stderr.strip() or done.stdout.strip())[-1500:]
        raise AssemblyError(
            f"`{' '.join(command[:6])}{' ...' if len(command) > 6 else ''}` ended with code {done.returncode}: {text}",
            fix=fix,
        )
    return done.stdout
