"""Runs `touchstone` commands for an assistant: the same commands that a person types, with the same words."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Sequence

from touchstone.failure import UsageError

_QUIET = {"NO_COLOR": "1", "TERM": "dumb", "COLUMNS": "160"}
_LARGEST = 60_000
"""Characters of an answer; an assistant reads no more of it with profit."""
_ENDED = "\n(cut here: {} further characters)"


async def run_command(*words: str) -> str:
    """The output of a command, both streams together, and its exit code.

    If the caller goes away, the command is interrupted.
    """
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "touchstone", *words),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        env={**os.environ, **_QUIET},
    )
    try:
        output, _ = await process.communicate()
    except asyncio.CancelledError:
        # As Ctrl-C: a run ends its contenders, and keeps what was measured until then.
        process.send_signal(signal.SIGINT)
        # Its last words are read as well: it would wait for a reader, and we for it.
        await process.communicate()
        raise
    text = output.decode(errors="replace").strip()
    text = text if len(text) <= _LARGEST else text[:_LARGEST] + _ENDED.format(len(text) - _LARGEST)
    return f"{text}\nexit code: {process.returncode}"


def plain(words: Sequence[str]) -> list[str]:
    """The words, none of which is an option. Raises UsageError: options are not an assistant's to choose."""
    for word in words:
        if word.startswith("-") or "\0" in word:
            raise UsageError(f"{word!r} is an option, not a name", fix="give the name alone")
    return list(words)
