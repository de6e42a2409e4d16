from touchstone.record.sample import DependencyState

from ..slices import sliced_run
from ..sound import codes, fired, first_load, result_of, sound_run
from ..unused import asked_for_the_contract_alone


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
    assert "reaches alone" in finding.statement


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


def test_what_the_engine_counted_goes_before_what_the_lab_saw_around_the_load() -> None:
    run = sound_run()
    sample = first_load(run)
    sample.dependencies = [DependencyState(name="database", kind="postgres", cpu_s=11.9, cpus=[1])]
    machine, seconds = result_of(sample).machine, result_of(sample).window.watched_s
    machine.dependencies_cpu_s = {"database": 0.5 * seconds}
    assert codes(run) == set()
    machine.dependencies_cpu_s = {"database": 0.95 * seconds}
    (finding,) = fired(run, "dependency-saturated")
    assert "95 %" in finding.statement


def test_in_slices_a_reading_of_all_turns_says_nothing_of_one_contender() -> None:
    run = sliced_run({"go/std": 20_000.0, "rust/std": 20_000.0})
    for sample in (one for one in run.samples if one.slices is not None):
        sample.dependencies = [DependencyState(name="database", kind="postgres", cpu_s=60.0, cpus=[1])]
    assert not fired(run, "dependency-saturated")


def test_a_dependency_that_only_the_contract_uses_inside_the_load_limits_nothing() -> None:
    run = sound_run()
    sample = first_load(run)
    assert sample.result is not None
    state = asked_for_the_contract_alone(sample, "postgres", sample.result.rate.achieved * 1.02)
    sample.dependencies = [state]
    assert not fired(run, "dependency-saturated")
    state.after = dict.fromkeys(state.after, 10_000.0)
    assert fired(run, "dependency-saturated")
