"""The other contenders of a lap, the null server among them."""

from __future__ import annotations

from touchstone.record.run import Run
from touchstone.record.sample import Sample


def neighbours(sample: Sample, run: Run) -> list[Sample]:
    """What was measured in slices next to a sample: under the same load, in the same round."""
    return [
        other
        for other in run.samples
        if other.slices is not None
        and (other.phase, other.load, other.round) == (sample.phase, sample.load, sample.round)
        and other.contender != sample.contender
    ]
