"""Runs one job of the engine: JSON in, events while it runs, JSON out."""

from __future__ import annotations

import contextlib
import json
import signal
import subprocess
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any, Literal, TypeVar

from pydantic import ValidationError

from touchstone.engine.locate import engine_path
from touchstone.engine.protocol import BootJob, HoldJob, LoadJob
from touchstone.failure import ExitCode, TouchstoneError
from touchstone.isolation.child import start_child
from touchstone.record.base import Record

Result = TypeVar("Result", bound=Record)
Event = dict[str, Any]


class EngineError(TouchstoneError):
    """The engine could not carry out a job."""


def run_job(
    kind: Literal["load", "boot", "hold"],
    job: LoadJob | BootJob | HoldJob,
    result: type[Result],
    *,
    on_event: Callable[[Event], None] = lambda _event: None,
) -> Result:
    """Carry out a job; `on_event` sees the progress. Raises EngineError, or KeyboardInterrupt."""
    with tempfile.TemporaryDirectory(prefix="touchstone-job-") as folder:
        document = _carry_out(kind, job, Path(folder), on_event)
    try:
        return result.model_validate(document, extra="forbid")
    except ValidationError as error:
        first = error.errors()[0]
        raise EngineError(
            f"the engine's {kind} result is of another form: {'.'.join(map(str, first['loc']))}: {first['msg']}",
            fix="engine and lab are of different versions: run `make setup`",
        ) from error


def _carry_out(kind: str, job: LoadJob | BootJob | HoldJob, folder: Path, on_event: Callable[[Event], None]) -> Any:
    job_file, out = folder / "job.json", folder / "result.json"
    job_file.write_text(json.dumps(job), encoding="utf-8")
    command = [engine_path(), kind, "--job", job_file, "--out", out, "--events"]
    # Ctrl-C goes to the lab alone, which asks the engine to end and keeps what it measured.
    process = start_child(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    lines: list[str] = []
    assert process.stderr is not None  # it was asked for as a pipe
    reader = threading.Thread(target=_read_events, args=(process.stderr, on_event, lines), daemon=True)
    reader.start()
    interrupted = False
    try:
        process.wait()
    except KeyboardInterrupt:
        interrupted = True
        process.send_signal(signal.SIGINT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(15)
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
        reader.join(2)
    if interrupted:
        raise KeyboardInterrupt
    if process.returncode not in {ExitCode.OK, ExitCode.INTERRUPTED} or not out.exists():
        raise EngineError(
            f"the engine's {kind} job ended with code {process.returncode}: {' '.join(lines[-5:]) or 'no message'}",
            fix="if the message does not help, run `touchstone doctor`",
        )
    return json.loads(out.read_text(encoding="utf-8"))


def _read_events(stream: IO[str], on_event: Callable[[Event], None], lines: list[str]) -> None:
    for line in stream:
        try:
            event = json.loads(line)
        except ValueError:
            lines.append(line.strip())
            continue
        if isinstance(event, dict):
            on_event(event)
