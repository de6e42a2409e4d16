from touchstone.record.run import Run

from ..capacities import search, with_search
from ..sound import fired


def disturbed(other_cpus: float) -> Run:
    found = search(9_000.0)
    for trial in found.trials:
        trial.other_cpus = 0.0 if trial.held else other_cpus
    run = with_search(found, 9_000.0)
    run.environment.cpus = 4
    return run


def test_strangers_on_the_cpus_while_trials_fail_are_told() -> None:
    (finding,) = fired(disturbed(1.2), "capacity-disturbed")
    assert "30 % of the machine" in finding.statement


def test_what_the_hypervisor_takes_is_taken_as_well() -> None:
    run = disturbed(0.3)
    for sample in run.samples:
        for trial in sample.capacity.trials if sample.capacity else []:
            trial.stolen_cpus = 0.0 if trial.held else 0.3
    findings = fired(run, "capacity-disturbed")
    assert findings
    assert "used 7.5 %" in findings[0].statement
    assert "the hypervisor took 7.5 %" in findings[0].statement


def test_trials_that_a_burst_made_void_have_not_failed() -> None:
    run = disturbed(1.2)
    for sample in run.samples:
        for trial in sample.capacity.trials if sample.capacity else []:
            trial.held = trial.held or None
    assert not fired(run, "capacity-disturbed")


def test_little_use_is_not_told() -> None:
    assert not fired(disturbed(0.4), "capacity-disturbed")
