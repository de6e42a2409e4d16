from touchstone.record.sample import DependencyState

from ..sound import codes, fired, first_load, sound_run


def test_a_database_with_its_cpu_full() -> None:
    run = sound_run()
    sample = first_load(run)
    sample.dependencies = [DependencyState(name="database", kind="postgres", cpu_s=11.9, cpus=[1])]
    (finding,) = fired(run, "dependency-saturated")
    assert "database" in finding.statement


def test_a_downstream_at_its_own_ceiling() -> None:
    run = sound_run()
    first_load(run).dependencies = [DependencyState(name="downstream", kind="echo", ceiling=20_500.0)]
    (finding,) = fired(run, "dependency-saturated")
    assert "answers by itself" in finding.statement


def test_a_dependency_with_headroom() -> None:
    run = sound_run()
    first_load(run).dependencies = [
        DependencyState(name="database", kind="postgres", cpu_s=6.0, cpus=[1], ceiling=60_000.0)
    ]
    assert codes(run) == set()


def test_a_load_that_asks_nothing_of_it_is_not_bounded_by_it() -> None:
    run = sound_run()
    first_load(run).dependencies = [
        DependencyState(name="database", kind="postgres", cpu_s=0.01, cpus=[1], ceiling=2_000.0, sessions_peak=0)
    ]
    assert codes(run) == set()
