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


def test_little_use_is_not_told() -> None:
    assert not fired(disturbed(0.4), "capacity-disturbed")
