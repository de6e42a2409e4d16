"""The engine as a process: a job as JSON in, events and orders while it runs, JSON out."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import tempfile
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self, TypeVar

from pydantic import ValidationError

from touchstone.engine.locate import engine_path
from touchstone.engine.protocol import BootJob, BoundsJob, HoldJob, LoadJob, SlicesJob, SlicesOrder, StopJob
from touchstone.failure import ExitCode, TouchstoneError
from touchstone.isolation.child import start_child
from touchstone.isolation.private_places import PrivatePlaces
from touchstone.record.base import Record

Result = TypeVar("Result", bound=Record)
Event = dict[str, Any]


class EngineError(TouchstoneError):
    """The engine could not carry out a job."""


_OF_ANOTHER_VERSION = re.compile(
    r"unknown (?:field|variant) `|missing field `|unexpected argument '--|unrecognized subcom"
)
"""What an engine says of words that its version does not know, or that a later version left out."""


def engine_refusal(why: str, fix: str | None = None) -> EngineError:
    """The error for a refused job. It names an engine of another version as the cause."""
    if not _OF_ANOTHER_VERSION.search(why):
        return EngineError(why, fix=fix)
    return EngineError(
        f"the engine is of another version than touchstone, and does not understand it: {why}",
        where=str(engine_path()),
        fix="build the engine again: `make setup`"
        + ("; or unset TOUCHSTONE_ENGINE, which names it" if "TOUCHSTONE_ENGINE" in os.environ else ""),
    )


class EngineProcess:
    """A context: the engine carries out a job.

    What has not ended with the context is asked to, and killed after 15 s.

    Ctrl-C goes to touchstone alone, which asks the engine to end by leaving the context. `on_event` receives the
    progress and `on_end` the end, both in a thread of their own. With `places`, engine and all that it starts have
    these for their own.
    """

    def __init__(
        self,
        kind: Literal["load", "boot", "hold", "slices", "stop", "bounds"],
        job: LoadJob | BootJob | HoldJob | SlicesJob | StopJob | BoundsJob,
        on_event: Callable[[Event], None],
        *,
        on_end: Callable[[], None] = lambda: None,
        takes_orders: bool = False,
        places: PrivatePlaces | None = None,
    ) -> None:
        self._kind, self._job, self._takes_orders, self._places = kind, job, takes_orders, places
        self._on_event, self._on_end = on_event, on_end
        self._said: list[str] = []
        self._telling = threading.Lock()

    def __enter__(self) -> Self:
        self._folder = tempfile.TemporaryDirectory(prefix="touchstone-job-")
        job_file, self._out = Path(self._folder.name, "job.json"), Path(self._folder.name, "result.json")
        job_file.write_text(json.dumps(self._job), encoding="utf-8")
        places = self._places and replace(self._places, kept=(*self._places.kept, Path(self._folder.name)))
        self._process = start_child(
            [engine_path(), self._kind, "--job", job_file, "--out", self._out, "--progress"],
            stdin=subprocess.PIPE if self._takes_orders else None,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=places.enter if places else None,
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(15)
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        self._reader.join(2)
        self._folder.cleanup()

    def tell(self, order: SlicesOrder) -> None:
        """Give it an order, from any thread. Raises EngineError if it has ended."""
        assert self._process.stdin is not None  # who gives orders has asked for it
        try:
            with self._telling:
                self._process.stdin.write(json.dumps(order) + "\n")
                self._process.stdin.flush()
        except BrokenPipeError as error:
            raise self.ended() from error

    def result(self, within_s: float | None = None) -> Any:
        """Wait until it ends, and read the document that it leaves. Raises EngineError."""
        try:
            self._process.wait(within_s)
        except subprocess.TimeoutExpired as error:
            raise EngineError(
                f"the engine did not finish its {self._kind} job", fix="run `touchstone doctor`"
            ) from error
        if self._process.returncode not in {ExitCode.OK, ExitCode.INTERRUPTED} or not self._out.exists():
            raise self.ended()
        return json.loads(self._out.read_text(encoding="utf-8"))

    def ended(self) -> EngineError:
        """How it ended without a result, in its own last words."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(5)
        self._reader.join(2)
        return engine_refusal(
            f"the engine's {self._kind} job ended with code {self._process.returncode}: "
            f"{' '.join(self._said[-5:]) or 'no message'}",
            fix="if the message does not help, run `touchstone doctor`",
        )

    def _read(self) -> None:
        assert self._process.stderr is not None  # it was asked for as a pipe
        for line in self._process.stderr:
            try:
                event = json.loads(line)
            except ValueError:
                self._said.append(line.strip())
                continue
            if isinstance(event, dict):
                self._on_event(event)
        self._on_end()


def run_job(
    kind: Literal["load", "boot", "hold", "stop", "bounds"],
    job: LoadJob | BootJob | HoldJob | StopJob | BoundsJob,
    result: type[Result],
    *,
    on_event: Callable[[Event], None] = lambda _event: None,
    places: PrivatePlaces | None = None,
) -> Result:
    """Carry out a job; `on_event` sees the progress. Raises EngineError, or KeyboardInterrupt."""
    with EngineProcess(kind, job, on_event, places=places) as engine:
        return read_as(result, engine.result(), f"the engine's {kind} result")


def read_as(
    model: type[Result], document: object, what: str, *, extra: Literal["forbid", "ignore"] = "forbid"
) -> Result:
    """The engine's output as a record; `what` names it. Raises EngineError if the form differs."""
    try:
        return model.model_validate(document, extra=extra)
    except ValidationError as error:
        first = error.errors()[0]
        raise EngineError(
            f"{what} has an unknown form: {'.'.join(map(str, first['loc']))}: {first['msg']}",
            fix="engine and lab are of different versions: run `make setup`",
        ) from error
