"""Reads the results of `ab` that are stored in a run."""

from __future__ import annotations

from pathlib import Path

from pydantic import ValidationError

from touchstone.failure import UsageError
from touchstone.judge.comparison.pair import PairJudgement
from touchstone.record.store import REVISIONS


def read_pair(folder: Path) -> PairJudgement | None:
    """Read the comparison of two revisions from a run. None if the run has none. Raises UsageError."""
    try:
        return PairJudgement.model_validate_json((folder / REVISIONS).read_bytes())
    except OSError:
        return None
    except ValidationError as error:
        raise UsageError(f"cannot be read: {error.errors()[0]['msg']}", where=str(folder / REVISIONS)) from error
