"""The machine around one sample."""

from __future__ import annotations

from touchstone.record.evidence.surroundings import MachineState
from touchstone.record.sample import Sample


def machine_state(sample: Sample) -> MachineState:
    """The state recorded with a sample; empty if none was."""
    return sample.machine or MachineState()
