import pytest

from touchstone.judge.judgement import Severity
from touchstone.record.other_process import OtherProcess
from touchstone.record.sample import DependencyState

from ..sound import codes, fired, first_load, result_of, sound_run


@pytest.mark.parametrize("other,severity", [(1.4, Severity.NOTE), (6.0, Severity.SUSPECT)])
def test_other_processes_on_the_cpus(other: float, severity: Severity) -> None:
    run = sound_run()
    result_of(first_load(run)).machine.other_cpu_s = other
    (finding,) = fired(run, "other-processes")
    assert finding.severity is severity


@pytest.mark.parametrize(("used", "named"), [(4.5, True), (0.5, False)])
def test_who_used_a_great_part_is_named(used: float, named: bool) -> None:
    run = sound_run()
    machine = result_of(first_load(run)).machine
    machine.other_cpu_s = 6.0
    machine.other_processes = [OtherProcess(pid=812, name="node", cpu_s=used)]
    (finding,) = fired(run, "other-processes")
    assert ("node (pid 812) used 75 % of that" in finding.statement) is named


def test_a_dependency_is_no_stranger() -> None:
    run = sound_run()
    sample = first_load(run)
    result_of(sample).machine.other_cpu_s = 6.0
    sample.dependencies = [DependencyState(name="database", kind="postgres", cpu_s=6.0, cpus=[1])]
    assert codes(run) == set()
