"""The results of `ab`, as runs keep them."""

from __future__ import annotations

from pathlib import Path

from pydantic import ValidationError

from touchstone.failure import UsageError
from touchstone.judge.comparison.pair import PairJudgement
from touchstone.record.store import REVISIONS


def read_pair(folder: Path) -> PairJudgement | None:
    """What a run says of two revisions; None if the run is of another kind. Raises UsageError."""
    try:
        return PairJudgement.model_validate_json((folder / REVISIONS).read_bytes())
    except OSError:
        return None
    except ValidationError as error:
        raise UsageError(f"cannot be read: {error.errors()[0]['msg']}", where=str(folder / REVISIONS)) from error
