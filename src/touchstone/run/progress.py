"""Shows the progress of a run: a live bar on a terminal, plain lines elsewhere, nothing if quiet."""

from __future__ import annotations

import threading
import time
from types import TracebackType
from typing import Protocol, Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from touchstone.bench.base import Watcher
from touchstone.engine.client import Event
from touchstone.record.sample import Sample

_PLAIN_EVERY_S = 10.0


class Display(Watcher, Protocol):
    """Receives the progress of a run from the conductor."""

    def __enter__(self) -> Self:
        """Begin to show."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End showing, and leave the terminal as it was."""

    def total(self, steps: int) -> None:
        """A run of that number of measurements begins; a command may make several runs."""

    def longer(self, steps: int) -> None:
        """The same run now has that number of measurements, because rounds were added."""

    def stage(self, text: str) -> None:
        """A stage of the run begins."""

    def advance(self) -> None:
        """A measurement has ended."""

    def measured(self, sample: Sample) -> None:
        """A sample is complete and on record."""


class TerminalDisplay:
    """For a terminal."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._progress = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}", table_column=None),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("[dim]{task.fields[detail]}"),
            console=console,
            transient=True,
            refresh_per_second=4,
        )
        self._task = self._progress.add_task("starting", total=None, detail="")

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()

    def total(self, steps: int) -> None:
        """See Display."""
        self._progress.update(self._task, total=steps, completed=0)

    def longer(self, steps: int) -> None:
        """See Display."""
        self._progress.update(self._task, total=steps)

    def stage(self, text: str) -> None:
        """See Display."""
        self._console.print(text, style="bold")

    def begins(self, sample: Sample) -> None:
        """See Display. Steps are shown, in words."""

    def measured(self, sample: Sample) -> None:
        """See Display. Results are shown by the reports."""

    def step(self, text: str) -> None:
        """See Display."""
        self._progress.update(self._task, description=text, detail="")

    def advance(self) -> None:
        """See Display."""
        self._progress.advance(self._task)

    def event(self, event: Event) -> None:
        """See Display."""
        if text := _in_words(event):
            self._progress.update(self._task, detail=text)

    def say(self, text: str) -> None:
        """See Display."""
        self._console.print(text, markup=False, highlight=False, soft_wrap=True)


class LogDisplay:
    """Progress for a log: a line for each stage, and further lines during long steps."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._steps = 0
        self._done = 0
        self._doing = self._step = "starting"
        self._start = self._said = time.monotonic()
        self._over = threading.Event()

    def __enter__(self) -> Self:
        # A command may make several runs, and each enters.
        self._over.clear()
        self._pulse = threading.Thread(target=self._beat, daemon=True)
        self._pulse.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._pulse.join()

    def total(self, steps: int) -> None:
        """See Display."""
        self._steps, self._done = steps, 0

    def longer(self, steps: int) -> None:
        """See Display."""
        self._steps = steps

    def stage(self, text: str) -> None:
        """See Display."""
        self._doing = text
        self.say(text)

    def begins(self, sample: Sample) -> None:
        """See Display. Steps are shown, in words."""

    def measured(self, sample: Sample) -> None:
        """See Display. Results are shown by the reports."""

    def step(self, text: str) -> None:
        """See Display."""
        self._doing = self._step = text
        self._say_now_and_then()

    def advance(self) -> None:
        """See Display."""
        self._done += 1

    def event(self, event: Event) -> None:
        """See Display."""
        if text := _in_words(event):
            self._doing = f"{self._step}, {text}"
            self._say_now_and_then()

    def say(self, text: str) -> None:
        """See Display."""
        self._said = time.monotonic()
        self._console.print(text, markup=False, highlight=False, soft_wrap=True)

    def _beat(self) -> None:
        while not self._over.wait(_PLAIN_EVERY_S / 10):
            self._say_now_and_then()

    def _say_now_and_then(self) -> None:
        if time.monotonic() - self._said >= _PLAIN_EVERY_S:
            took_s = time.monotonic() - self._start
            self.say(f"  {took_s:.0f} s, {self._done} of {self._steps} measurements: {self._doing}")


def _in_words(event: Event) -> str | None:
    """Return the progress of a measurement as text. None if the event has none."""
    if event.get("event") != "progress":
        return None
    if "held" in event:
        return f"{event['held']:,} of {event['connections']:,} connections held"
    return f"{event['ok']:,} ok after {event.get('t', 0):.0f} s" if "ok" in event else None


def display_for(console: Console) -> TerminalDisplay | LogDisplay:
    """The display that suits the console."""
    return TerminalDisplay(console) if console.is_terminal else LogDisplay(console)
