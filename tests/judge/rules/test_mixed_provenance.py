from touchstone.judge.judge import judge
from touchstone.judge.judgement import Severity, Verdict
from touchstone.record.evidence.surroundings import MachineState

from ..sound import fired, first_load, result_of, sound_run


def test_two_engines() -> None:
    run = sound_run()
    result_of(first_load(run)).engine.version = "0.2.0"
    (finding,) = fired(run, "mixed-provenance")
    assert finding.severity is Severity.INVALID
    assert judge(run).verdict is Verdict.INVALID


def test_two_versions_of_the_scenario() -> None:
    run = sound_run()
    first_load(run).scenario_version = 2
    assert "scenario version" in fired(run, "mixed-provenance")[0].statement


def test_two_kernels() -> None:
    run = sound_run()
    first_load(run).machine = MachineState.model_validate({"kernel": "6.9.9"})
    assert "kernel" in fired(run, "mixed-provenance")[0].statement


def test_two_backends_within_a_load() -> None:
    run = sound_run()
    result_of(first_load(run)).engine.backend = "io_uring"
    assert [f.severity for f in fired(run, "mixed-provenance")] == [Severity.SUSPECT]


def test_a_kernel_that_was_read_again() -> None:
    run = sound_run()
    first_load(run).machine = MachineState(kernel=run.environment.kernel)
    assert not fired(run, "mixed-provenance")
