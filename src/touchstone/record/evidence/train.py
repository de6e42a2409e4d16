"""The training run of an AOT cache."""

from __future__ import annotations

from typing import Literal

from touchstone.record.base import Record


class TrainEvidence(Record):
    """Whether the training run was carried out in this run."""

    kind: Literal["train"] = "train"
    cached: bool
    """True if an earlier run had trained the same build: the time is that run's."""
