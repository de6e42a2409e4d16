from touchstone.judge.judgement import Severity
from touchstone.record.evidence.surroundings import Confinement

from ..sound import fired, first_load, sound_run


def test_a_server_that_somebody_stopped() -> None:
    run = sound_run()
    first_load(run).process.confinement = [Confinement(halted=True)]
    (finding,) = fired(run, "process-halted")
    assert finding.severity is Severity.INVALID


def test_a_server_that_was_left_alone() -> None:
    run = sound_run()
    first_load(run).process.confinement = [Confinement(resident=1)]
    assert not fired(run, "process-halted")
