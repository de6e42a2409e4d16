"""callgrind: counts the instructions that a native program executes outside the kernel. Noise does not change them."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from touchstone.bench.base import Built
from touchstone.bench.service import StartedService
from touchstone.phase.profile.profiler import ProfilerError
from touchstone.toolchain.registry import find_tool
from touchstone.toolchain.tool import FoundTool

LANGUAGES = frozenset({"c", "c++", "rust", "zig"})
"""Languages whose programs valgrind can run. Go's runtime ends under it; a JIT-compiled program would be another
one."""
_PATIENCE_S = 60
_TOTAL = re.compile(r"^(?:totals|summary): (\d+)", re.MULTILINE)


class Callgrind:
    """A contender's program under callgrind, and the instructions between two moments."""

    def __init__(self, valgrind: Path, folder: Path) -> None:
        self._valgrind, self._folder = valgrind, folder

    def wrapped(self, built: Built) -> Built:
        """The build, to be started under callgrind."""
        words = [f"--vgdb-prefix={self._folder}/vgdb", f"--callgrind-out-file={self._folder}/out"]
        return replace(built, argv=(str(self._valgrind), "--tool=callgrind", *words, *built.argv))

    def since_last(self, contender: StartedService) -> int:
        """The instructions since this was last asked, or since the start. Raises ProfilerError."""
        before = set(self._folder.glob("out.*"))
        # vgdb finds the program by the environment that it was started with: it puts HOST into the names of its pipes.
        tell = [
            str(self._valgrind.parent / "vgdb"),
            f"--vgdb-prefix={self._folder}/vgdb",
            f"--pid={contender.pid}",
            "dump",
        ]
        try:
            output = subprocess.run(
                tell, env={"PATH": os.defpath, "HOST": contender.host}, capture_output=True, text=True,
                timeout=_PATIENCE_S, check=False,
            ).stderr  # fmt: skip
        except (OSError, subprocess.TimeoutExpired) as error:
            output = str(error)
        written = [_TOTAL.search(path.read_text()) for path in set(self._folder.glob("out.*")) - before]
        counts = [int(total.group(1)) for total in written if total]
        if not counts:
            raise ProfilerError(
                f"not measured: callgrind gives no count: {output.strip() or 'no message'}",
                fix="see the contender's log: valgrind names the unsupported operation there",
            )
        return sum(counts)


@contextmanager
def callgrind(language: str) -> Iterator[Callgrind]:
    """A context with callgrind for one start of a program. Raises ProfilerError if it cannot count this language."""
    if language.lower() not in LANGUAGES:
        raise ProfilerError(
            f"not measured: callgrind counts native programs, and cannot run {language}",
            fix="it runs C, C++, Rust and Zig",
        )
    tool = find_tool("valgrind", ">=3.15")
    if not isinstance(tool, FoundTool):
        raise ProfilerError(f"not measured: {tool}", fix="then run the phase again")
    with tempfile.TemporaryDirectory(prefix="touchstone-callgrind-") as folder:
        yield Callgrind(tool.path, Path(folder))
