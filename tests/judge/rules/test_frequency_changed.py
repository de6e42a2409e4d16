import pytest

from touchstone.judge.judgement import Severity
from touchstone.record.evidence.surroundings import MachineState

from ..sound import codes, fired, first_load, sound_run


@pytest.mark.parametrize("after,severity", [(2800.0, Severity.NOTE), (2000.0, Severity.SUSPECT)])
def test_a_cpu_that_slows_down(after: float, severity: Severity) -> None:
    run = sound_run()
    machine = {"frequency_mhz_before": [3000.0, 3000.0], "frequency_mhz_after": [after, after]}
    first_load(run).machine = MachineState.model_validate(machine)
    (finding,) = fired(run, "frequency-changed")
    assert finding.severity is severity


def test_jitter_is_no_change() -> None:
    run = sound_run()
    first_load(run).machine = MachineState.model_validate(
        {"frequency_mhz_before": [3000.0], "frequency_mhz_after": [2950.0]}
    )
    assert codes(run) == set()
