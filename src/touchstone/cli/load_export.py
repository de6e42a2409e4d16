"""`touchstone load --metrics`: exports the engine's events during a load."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import typer

from touchstone.metrics.export import LiveExport
from touchstone.phase.load.figures import load_figures
from touchstone.record.engine import LoadResult

_PLACE = {"phase": "load"}


class LoadExport:
    """The open export places of a load. Raises UsageError for a place that cannot be opened."""

    def __init__(self, wanted: list[str]) -> None:
        self._export = LiveExport(wanted, lambda text: typer.echo(text, err=True))
        self._export.live.begins(_PLACE)

    def run(self, engine: Path, words: Sequence[str], stdout: int | None) -> int:
        """The exit code of the engine's load, whose events are exported. Other lines are passed on."""
        shown = "--progress" in words
        command = [str(engine), "load", *words, *([] if shown else ["--progress"])]
        with subprocess.Popen(command, stdout=stdout, stderr=subprocess.PIPE, text=True, errors="replace") as process:
            assert process.stderr is not None  # it was asked for as a pipe
            for line in process.stderr:
                if not self._exported(line) or shown:
                    sys.stderr.write(line)
                    sys.stderr.flush()
        return process.returncode

    def _exported(self, line: str) -> bool:
        """Whether the line is an event, which is exported then."""
        try:
            event = json.loads(line)
        except ValueError:
            return False
        if not isinstance(event, dict) or "event" not in event:
            return False
        self._export.event(event)
        return True

    def end(self, result: LoadResult | None) -> None:
        """Export the figures of the whole load, and push what collectors do not have yet."""
        if result is not None:
            figures, _ = load_figures(result)
            self._export.measured(_PLACE, figures)
        self._export.places.flush()
        self._export.places.close()
