"""Regular expressions: one dialect, which is what Python's `re` and the engine both take, and take alike.

The contract is checked in Python and a load in the engine, so that a pattern that only one of them takes would do for
one and fail in the other, after everything was built.
"""

from __future__ import annotations

import json
import re
import subprocess
import tempfile
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from touchstone.engine.locate import engine_path

_REFUSED = {r"\<": "begins a word in the engine and is a character in Python", r"\>": "ends a word in the engine only"}
_SENTINEL: dict[str, Any] = {
    "method": "GET",
    "target": "/",
    "headers": [],
    "body": None,
    "weight": 1,
    "name": "sentinel",
} | {"expect": {"status": [200], "body": {"kind": "pattern", "value": "("}}}
"""A request that the engine refuses: with it as the last of a job, nothing is ever opened."""
_PLACE = re.compile(r"requests\[(\d+)\][^:]*: (.*)", re.DOTALL)


def python_refuses(pattern: str) -> str | None:
    """Why Python does not take a pattern, or takes it otherwise than the engine; None if it does not."""
    for text, why in _REFUSED.items():
        if re.search(rf"(?<!\\)(?:\\\\)*{re.escape(text)}", pattern):
            return f"{text} {why}"
    try:
        with warnings.catch_warnings():
            # `[[:digit:]]` and `[a&&b]` are sets of other characters there than here, and Python warns of them.
            warnings.simplefilter("error")
            re.compile(pattern)
    except (re.error, FutureWarning, DeprecationWarning, OverflowError, RecursionError) as error:
        return str(error)
    return None


def engine_refuses(requests: Sequence[dict[str, Any]]) -> dict[int, str]:
    """Which requests of a load job the engine does not take, by their place, and why. Nothing is sent.

    Raises TouchstoneError if there is no engine.
    """
    left = list(enumerate(requests))
    refused: dict[int, str] = {}
    with tempfile.TemporaryDirectory(prefix="touchstone-check-") as folder:
        while left:
            said = _said([request for _, request in left], Path(folder) / "job.json")
            match = _PLACE.search(said)
            if match is None or int(match[1]) >= len(left):
                break
            place = int(match[1])
            refused[left[place][0]] = " ".join(match[2].split())
            del left[place]
    return refused


def pattern_request(pattern: str) -> dict[str, Any]:
    """A request that asks for nothing but the pattern."""
    return _SENTINEL | {"expect": {"status": [200], "body": {"kind": "pattern", "value": pattern}}}


def _said(requests: Sequence[dict[str, Any]], file: Path) -> str:
    job = {"url": "http://127.0.0.1:9", "connections": 1, "duration_s": 0.01, "requests": [*requests, _SENTINEL]}
    file.write_text(json.dumps(job), encoding="utf-8")
    command = [str(engine_path()), "load", "--job", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=30)
    return done.stderr
