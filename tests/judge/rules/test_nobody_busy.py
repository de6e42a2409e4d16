import pytest

from touchstone.judge.judgement import Severity
from touchstone.record.run import Run
from touchstone.record.sample import DependencyState, Sample

from ..sound import fired, first_load, result_of, sound_run


def waiting() -> tuple[Run, Sample]:
    """A run whose first load waits 41 ms for each answer, while nobody works."""
    run = sound_run()
    sample = first_load(run)
    result = result_of(sample)
    assert result.watch
    result.latency.p50 = 0.041
    result.watch.window.cpu_s = 0.03 * result.window.measured_s
    for thread in result.generator.threads:
        thread.busy = 0.02
    return run, sample


def test_requests_that_wait_for_nothing_that_works() -> None:
    run, sample = waiting()
    (finding,) = fired(run, "nobody-busy")
    assert finding.severity is Severity.NOTE
    assert finding.sample == sample.id
    assert "the median request took 41 ms, while the server used 3 %" in finding.statement


def test_a_busy_server_is_what_they_wait_for() -> None:
    run, sample = waiting()
    result = result_of(sample)
    assert result.watch
    result.watch.window.cpu_s = 0.9 * result.window.measured_s
    assert not fired(run, "nobody-busy")


@pytest.mark.parametrize(("used", "expected"), [(0.02, 1), (0.7, 0)])
def test_a_busy_database_is_what_they_wait_for(used: float, expected: int) -> None:
    run, sample = waiting()
    result = result_of(sample)
    sample.dependencies = [DependencyState(name="database", kind="postgres", cpus=[1])]
    result.machine.dependencies_cpu_s = {"database": used * result.window.watched_s}
    assert len(fired(run, "nobody-busy")) == expected


@pytest.mark.parametrize(("delay_ms", "expected"), [(1, 1), (40, 0)])
def test_a_downstream_that_waits_as_it_is_asked_to_explains_it(delay_ms: int, expected: int) -> None:
    run, sample = waiting()
    result = result_of(sample)
    sample.dependencies = [
        DependencyState(name="downstream", kind="echo", cpus=[1], settings={"delay_ms": delay_ms}, ceiling=1e6)
    ]
    result.machine.dependencies_cpu_s = {"downstream": 0.01 * result.window.watched_s}
    assert len(fired(run, "nobody-busy")) == expected


def test_strangers_that_take_the_cpus_are_what_they_wait_for() -> None:
    run, sample = waiting()
    result = result_of(sample)
    result.machine.other_cpu_s = 0.4 * run.environment.cpus * result.window.watched_s
    assert not fired(run, "nobody-busy")


def test_an_open_loop_and_users_who_think_have_time_to_spare() -> None:
    run, sample = waiting()
    sample.spec.requests = [{"target": "/", "think_s": {"mean": 0.04}}]
    assert not fired(run, "nobody-busy")
    run, sample = waiting()
    sample.spec.loop = "open"
    assert not fired(run, "nobody-busy")
