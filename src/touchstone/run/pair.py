"""The result of a measured pair: the run, its judgement and the remarks."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from touchstone.judge.comparison.pair import PairJudgement
from touchstone.judge.judgement import Judgement
from touchstone.record.run import Run
from touchstone.report.view import View


@dataclass(frozen=True)
class MeasuredPair:
    """Two contenders of one run, measured and judged."""

    run: Run
    judgement: Judgement
    judged: PairJudgement
    folder: Path
    """The folder of the run."""

    @cached_property
    def view(self) -> View:
        """The run and its judgement, for reports."""
        return View(self.run, self.judgement)
