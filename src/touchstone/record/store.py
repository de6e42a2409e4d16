"""The folder of a run. Each sample is written at once, so an interruption keeps finished samples."""

from __future__ import annotations

import errno
import itertools
import json
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from touchstone.failure import TouchstoneError, UsageError
from touchstone.record.base import Record
from touchstone.record.run import Environment, Plan, Run
from touchstone.record.sample import Sample
from touchstone.whole_file import write_whole

Model = TypeVar("Model", bound=Record)

REVISIONS = "revisions.json"
"""The file of a run's folder with what is said of two revisions, where it compares such."""
_PLAN, _ENVIRONMENT, _STATE, _SAMPLES = "plan.json", "environment.json", "state.json", "samples"


class StoreError(TouchstoneError):
    """A result could not be written or read."""


class RunStore:
    """Writes a run. Each file is written next to its place and renamed, so that no half file is ever read."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.started_at = datetime.now(UTC)
        self._count = 0

    @property
    def logs(self) -> Path:
        """Return the folder for logs of servers, builds and dependencies."""
        return self.folder / "logs"

    def open(self, plan: Plan, environment: Environment) -> None:
        """Make the folder and write the plan. Raises StoreError if the folder holds a run, or cannot be made."""
        refuse_taken(self.folder)
        try:
            (self.folder / _SAMPLES).mkdir(parents=True, exist_ok=True)
            self.logs.mkdir(exist_ok=True)
        except OSError as error:
            raise _cannot_write(self.folder, error) from error
        self.write_plan(plan)
        self.write(_ENVIRONMENT, environment)
        self.write_state()

    def write_plan(self, plan: Plan) -> None:
        """Write the plan. Called again if rounds were added."""
        self.write(_PLAN, plan)

    def next_id(self, phase: str, contender: str, load: str | None, round_number: int | None) -> str:
        """A sample's id: its number in the run, phase, contender, load and round."""
        self._count += 1
        parts = [phase, contender.replace("/", "."), load, None if round_number is None else f"r{round_number:02d}"]
        return "-".join([f"{self._count:04d}", *(part for part in parts if part)])

    def add(self, sample: Sample) -> None:
        """Write one sample."""
        self.write(f"{_SAMPLES}/{sample.id}.json", sample)

    def write_state(self, *, ended: bool = False, interrupted: bool = False, notes: list[str] | None = None) -> None:
        """Write when the run began and how it ended."""
        ended_at = datetime.now(UTC).isoformat() if ended else None
        state: dict[str, Any] = {
            "schema": "touchstone.state/1",
            "started_at": self.started_at.isoformat(),
            "ended_at": ended_at,
            "interrupted": interrupted,
            "notes": notes or [],
        }
        self._put(_STATE, json.dumps(state, indent=1))

    def write(self, name: str, record: Record) -> None:
        """Write a record as JSON under the run's folder."""
        self._put(name, record.model_dump_json(indent=1, by_alias=True))

    def _put(self, name: str, text: str) -> None:
        path = self.folder / name
        try:
            write_whole(path, text + "\n")
        except OSError as error:
            raise _cannot_write(path, error) from error


def refuse_taken(folder: Path) -> None:
    """Raises StoreError if the folder holds a run."""
    if (folder / _PLAN).exists():
        raise StoreError("the folder holds a run already", where=str(folder), fix="name another with --out")


def new_run_folder(results: Path, run_id: str) -> Path:
    """Make a folder named after a run, with a number where another run has that name. Raises StoreError."""
    folder = results / run_id
    try:
        results.mkdir(parents=True, exist_ok=True)
        for number in itertools.count(2):
            with suppress(FileExistsError):
                folder.mkdir()
                break
            folder = results / f"{run_id}-{number}"
    except OSError as error:
        raise _cannot_write(folder, error) from error
    return folder


def _cannot_write(path: Path, error: OSError) -> StoreError:
    if error.errno == errno.ENOSPC:
        return StoreError(
            "the disk is full; what was measured until now is kept",
            where=str(path),
            fix="free some space, or name a folder on another disk with --out",
        )
    return StoreError(f"it cannot be written: {error.strerror}", where=str(path), fix="name another folder with --out")


def load_run(folder: Path) -> Run:
    """Read a run back. Raises UsageError if there is none, and StoreError if a file of it is broken."""
    if not (folder / _PLAN).is_file():
        raise UsageError("there is no run in this folder", where=str(folder), fix="`touchstone list --runs` lists them")
    try:
        return _loaded(folder)
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError) as error:
        # Not of the form that any version writes: half a file, or one changed by hand.
        raise StoreError(
            f"its records are damaged: {f'there is no {error}' if isinstance(error, KeyError) else error}",
            where=str(folder),
            fix="copy the run again from where it was measured, or measure again",
        ) from error


def _loaded(folder: Path) -> Run:
    state = _read_json(folder / _STATE)
    plan = _read(folder / _PLAN, Plan)
    for name in (plan.run_id, plan.scenario):
        # Reports and badges are written under these names, and a run may come from elsewhere.
        if name in ("", ".", "..") or "/" in name or "\0" in name:
            raise ValueError(f"{name!r} is not a name of a run or a scenario")
    return Run(
        plan=plan,
        environment=_read(folder / _ENVIRONMENT, Environment),
        samples=[_read(path, Sample) for path in sorted((folder / _SAMPLES).glob("*.json"))],
        started_at=state["started_at"],
        ended_at=state["ended_at"],
        interrupted=state["interrupted"] or state["ended_at"] is None,
        notes=state["notes"],
    )


def load_environment(folder: Path) -> Environment | None:
    """The machine of a run and the engine that measured it. None if the run is gone, or does not say."""
    try:
        return _read(folder / _ENVIRONMENT, Environment)
    except StoreError:
        return None


def runs_in(root: Path) -> list[Path]:
    """The run folders below `root`, the newest last."""
    return sorted((path.parent for path in root.glob(f"*/{_PLAN}")), key=lambda folder: folder.name)


def _read_json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise StoreError(
            f"it cannot be read: {error}", where=str(path), fix="the run is damaged; measure again"
        ) from error


def _read(path: Path, record: type[Model]) -> Model:
    return _validated(path, _read_json(path), record)


def _validated(path: Path, document: Any, record: type[Model]) -> Model:
    try:
        return record.model_validate(document)
    except ValidationError as error:
        raise StoreError(
            f"it is not a {record.__name__} of this version: {error.errors()[0]['msg']}",
            where=str(path),
            fix="read it with the version of touchstone that wrote it",
        ) from error
