"""A command that an assistant has called off is interrupted, whatever it still prints."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

from touchstone.assistant.command import run_command

# It prints more than a pipe and a reader's buffer hold, once it is interrupted.
PROGRAM = """\
#!{python}
import pathlib, signal, sys

def end(*_):
    print("x" * 1_000_000, flush=True)
    pathlib.Path("ended").touch()
    sys.exit(0)

signal.signal(signal.SIGINT, end)
pathlib.Path("begun").touch()
signal.pause()
"""


def test_a_command_that_is_called_off_ends_by_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "program"
    program.write_text(PROGRAM.format(python=sys.executable), encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "executable", str(program))

    async def call_off() -> None:
        called = asyncio.create_task(run_command("show"))
        while not (tmp_path / "begun").exists():
            await asyncio.sleep(0.01)
        called.cancel()
        with pytest.raises(asyncio.CancelledError):
            await called

    asyncio.run(asyncio.wait_for(call_off(), 20))
    assert (tmp_path / "ended").exists()
