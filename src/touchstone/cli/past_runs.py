"""Lists stored runs with their time, scenario and outcome."""

from __future__ import annotations

import json
from pathlib import Path

from pydantic import BaseModel, ValidationError

from touchstone.judge.judgement import Verdict
from touchstone.record.run import Plan
from touchstone.record.store import load_environment, runs_in

_NAMED = 4
"""Contenders that a line names."""


class _State(BaseModel):
    started_at: str = ""
    interrupted: bool = False


class _Judged(BaseModel):
    verdict: Verdict
    failed: list[object] = []


class _Report(BaseModel):
    judgement: _Judged


def past_runs(root: Path, scenario: str = "") -> list[dict[str, str | None]]:
    """Return the runs below a folder, the latest first. Unreadable runs are included as such."""
    rows = []
    for folder in reversed(runs_in(root)):
        try:
            plan = Plan.model_validate_json((folder / "plan.json").read_bytes())
        except (OSError, ValidationError):
            rows.append(_row(folder, None))
            continue
        if scenario in ("", plan.scenario):
            rows.append(_row(folder, plan))
    return rows


def _row(folder: Path, plan: Plan | None) -> dict[str, str | None]:
    state = _state(folder)
    names = [c.name for c in plan.contenders if c.not_measured is None] if plan else []
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return {
        "run": folder.name,
        "date": state.started_at[:16].replace("T", " ") or None,
        "scenario": plan.scenario if plan else None,
        "contenders": ", ".join(names[:_NAMED]) + more,
        "verdict": _verdict(folder, state) if plan else "unreadable",
        "lab": _lab(folder),
        "folder": str(folder),
    }


def _state(folder: Path) -> _State:
    try:
        return _State.model_validate_json((folder / "state.json").read_bytes())
    except (OSError, ValidationError):
        return _State()


def _lab(folder: Path) -> str | None:
    """Return touchstone's revision, with a plus if its sources were changed. None if it was installed."""
    seen = load_environment(folder)
    return f"{seen.git_revision[:9]}{'+' if seen.git_dirty else ''}" if seen and seen.git_revision else None


def _verdict(folder: Path, state: _State) -> str:
    """The verdict in the run's report; `touchstone show` judges again."""
    try:
        judged = _Report.model_validate(json.loads((folder / "report.json").read_bytes())).judgement
    except (OSError, ValueError, RecursionError):
        return "not judged"
    parts = [str(judged.verdict)]
    if judged.failed:
        parts.append(f"{len(judged.failed)} failed")
    if state.interrupted:
        parts.append("interrupted")
    return ", ".join(parts)
