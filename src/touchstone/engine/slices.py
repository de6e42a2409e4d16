"""A slices job of the engine: several contenders loaded in turn, by orders that the lab gives while it runs."""

from __future__ import annotations

import contextlib
import json
import queue
import signal
import subprocess
import tempfile
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Literal, Self

from pydantic import Field, JsonValue, ValidationError

from touchstone.engine.client import EngineError, Event
from touchstone.engine.locate import engine_path
from touchstone.engine.protocol import SlicesJob, SlicesOrder, TurnOrder
from touchstone.failure import ExitCode
from touchstone.isolation.child import start_child
from touchstone.record.base import Record
from touchstone.record.engine import LoadResult
from touchstone.record.evidence.slices import Slice

_PATIENCE_S = 60.0
"""Beyond the time that an order's turns take: responses under way, settling, a machine that stands still."""


class TurnRecord(Slice):
    """A finished turn as the engine tells it: a slice, and whose."""

    contender: int


class SlicesResult(Record):
    """What the engine says at the end: a load result for each contender, in the job's order."""

    schema_: str = Field(default="touchstone.slices/1", alias="schema")
    engine: dict[str, str] = {}
    origin_unix_s: float = 0.0
    interrupted: bool = False
    contenders: list[LoadResult]
    slices: list[JsonValue] = []
    """Told as events while they were measured; read from there."""


@dataclass(frozen=True)
class Turn:
    """One slice to come: whose, and how long, in seconds."""

    contender: int
    seconds: float


class SlicesSession:
    """A context: the engine connects on entry; `turns` carries out an order; `finish` ends the job."""

    def __init__(self, job: SlicesJob, timeout_s: float, on_event: Callable[[Event], None]) -> None:
        self._job = job
        self._timeout_s = timeout_s
        self._on_event = on_event
        self._folder = tempfile.TemporaryDirectory(prefix="touchstone-job-")
        self._events: queue.Queue[Event | None] = queue.Queue()
        self._said: list[str] = []
        self.fatal: dict[int, str] = {}
        """Contenders that have not one connection, and why."""

    def __enter__(self) -> Self:
        folder = Path(self._folder.name)
        job_file, self._out = folder / "job.json", folder / "result.json"
        job_file.write_text(json.dumps(self._job), encoding="utf-8")
        command = [engine_path(), "slices", "--job", job_file, "--out", self._out, "--events"]
        self._process = start_child(
            command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )
        threading.Thread(target=self._read, daemon=True).start()
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
        self._folder.cleanup()

    def turns(self, phase: Literal["warmup", "load"], turns: Sequence[Turn]) -> list[TurnRecord]:
        """Carry out turns one after the other; their records, in order. Raises EngineError."""
        told: list[TurnOrder] = [{"contender": turn.contender, "seconds": turn.seconds} for turn in turns]
        self._tell({"order": "slices", "phase": phase, "turns": told})
        patience = sum(turn.seconds for turn in turns) + len(turns) * (self._timeout_s + 1.0) + _PATIENCE_S
        records: list[TurnRecord] = []
        while True:
            event = self._next(patience)
            match event.get("event"):
                case "slice":
                    records.append(_read_record(event))
                    self._on_event(event)
                case "fatal":
                    self.fatal[int(event["contender"])] = str(event["why"])
                case "done":
                    return records

    def finish(self, after_s: float) -> SlicesResult:
        """End the job and read its result; memory is watched for `after_s` before. Raises EngineError."""
        self._tell({"order": "end"})
        try:
            self._process.wait(after_s + self._timeout_s + _PATIENCE_S)
        except subprocess.TimeoutExpired as error:
            raise EngineError("the engine did not end its slices job", fix="run `touchstone doctor`") from error
        if self._process.returncode not in {ExitCode.OK, ExitCode.INTERRUPTED} or not self._out.exists():
            raise self._ended()
        try:
            return SlicesResult.model_validate_json(self._out.read_text(encoding="utf-8"), extra="forbid")
        except ValidationError as error:
            first = error.errors()[0]
            raise EngineError(
                f"the engine's slices result is of another form: {'.'.join(map(str, first['loc']))}: {first['msg']}",
                fix="engine and lab are of different versions: run `make setup`",
            ) from error

    def _tell(self, order: SlicesOrder) -> None:
        assert self._process.stdin is not None  # it was asked for as a pipe
        try:
            self._process.stdin.write(json.dumps(order) + "\n")
            self._process.stdin.flush()
        except BrokenPipeError as error:
            raise self._ended() from error

    def _next(self, patience_s: float) -> Event:
        try:
            event = self._events.get(timeout=patience_s)
        except queue.Empty as error:
            raise EngineError(
                f"the engine has told nothing of its turns for {patience_s:.0f} s", fix="run `touchstone doctor`"
            ) from error
        if event is None:
            raise self._ended()
        return event

    def _read(self) -> None:
        assert self._process.stderr is not None  # it was asked for as a pipe
        for line in self._process.stderr:
            try:
                event = json.loads(line)
            except ValueError:
                self._said.append(line.strip())
                continue
            if isinstance(event, dict):
                self._events.put(event)
        self._events.put(None)

    def _ended(self) -> EngineError:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(5)
        return EngineError(
            f"the engine's slices job ended with code {self._process.returncode}: "
            f"{' '.join(self._said[-5:]) or 'no message'}",
            fix="if the message does not help, run `touchstone doctor`",
        )


def _read_record(event: Event) -> TurnRecord:
    try:
        return TurnRecord.model_validate(event)
    except ValidationError as error:
        first = error.errors()[0]
        raise EngineError(
            f"a slice is of another form: {'.'.join(map(str, first['loc']))}: {first['msg']}",
            fix="engine and lab are of different versions: run `make setup`",
        ) from error
