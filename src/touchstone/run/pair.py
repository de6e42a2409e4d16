"""What a comparison of two contenders leaves: the run, what the judge says of it, and what is said of the pair."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from touchstone.judge.comparison.pair import PairJudgement
from touchstone.judge.judgement import Judgement
from touchstone.record.run import Run

Said = TypeVar("Said", bound=PairJudgement)


@dataclass(frozen=True)
class MeasuredPair(Generic[Said]):
    """Two contenders of one run, measured and judged."""

    run: Run
    judgement: Judgement
    said: Said
    folder: Path
    """The folder of the run."""
