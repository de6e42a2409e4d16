"""Logs each long collection of CPython's collector: process, end and length in nanoseconds of CLOCK_MONOTONIC, kind.

Python imports this module at its start, where the folder is on PYTHONPATH; the one that it hides is imported after it.
"""

import contextlib
import gc
import importlib
import os
import sys
import time

_LEAST_NS = 100_000
"""Shorter ones hold up nothing, and are many."""


class _Log:
    def __init__(self, path: str) -> None:
        self.file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        self.begun = 0

    def note(self, phase: str, info: dict[str, int]) -> None:
        now = time.monotonic_ns()
        if phase == "start":
            self.begun = now
        elif now - self.begun >= _LEAST_NS:
            line = f"{os.getpid()} {now} {now - self.begun} generation {info['generation']}\n"
            os.write(self.file, line.encode())


if "TOUCHSTONE_PAUSES" in os.environ:
    gc.callbacks.append(_Log(os.environ["TOUCHSTONE_PAUSES"]).note)
    sys.path[:] = [folder for folder in sys.path if not __file__.startswith(folder + os.sep)]
    del sys.modules["sitecustomize"]
    with contextlib.suppress(ImportError):
        importlib.import_module("sitecustomize")
