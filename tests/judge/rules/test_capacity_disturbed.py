import pytest

from touchstone.record.evidence.surroundings import MachineState
from touchstone.record.run import Run
from touchstone.record.sample import DependencyState

from ..capacities import search, with_search
from ..sound import fired


def disturbed(other_cpus: float, *, database_cpu_s: float = 0.0) -> Run:
    found = search(9_000.0)
    for trial in found.trials:
        trial.other_cpus = 0.0 if trial.held else other_cpus
    run = with_search(found, 9_000.0)
    run.environment.cpus = 4
    sample = next(s for s in run.samples if s.capacity is found)
    sample.machine = MachineState(wall_s=100.0, monotonic_s=100.0)
    sample.dependencies = [DependencyState(name="database", kind="postgres", cpu_s=database_cpu_s, cpus=[1])]
    return run


def test_strangers_on_the_cpus_while_trials_fail_are_told() -> None:
    (finding,) = fired(disturbed(1.2), "capacity-disturbed")
    assert "30 % of the machine" in finding.statement


@pytest.mark.parametrize("run", [disturbed(0.4), disturbed(1.2, database_cpu_s=100.0)], ids=["few", "a dependency"])
def test_little_use_and_a_dependency_are_no_strangers(run: Run) -> None:
    assert not fired(run, "capacity-disturbed")
