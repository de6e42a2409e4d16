from touchstone.record.evidence.surroundings import Confinement, ThreadAtEnd
from touchstone.record.run import Run
from touchstone.record.watch import StrayThread, WatchedPlacement

from ..sound import codes, fired, first_load, sound_run, watch_of


def test_a_thread_beyond_the_given_cpus() -> None:
    run = sound_run()
    first_load(run).process.confinement = [Confinement(beyond_cpus=[ThreadAtEnd(pid=7, thread=7, cpus=[0, 1])])]
    (finding,) = fired(run, "cpus-not-kept")
    assert "[0, 1]" in finding.statement
    assert "[0]" in finding.statement


def test_the_polling_thread_of_io_uring_is_named() -> None:
    """IORING_SETUP_SQ_AFF puts it on any CPU, without a call of sched_setaffinity (Linux 6.18)."""
    run = sound_run()
    polling = ThreadAtEnd(pid=7, thread=8, name="iou-sqp-7", cpus=[1])
    first_load(run).process.confinement = [Confinement(beyond_cpus=[polling])]
    (finding,) = fired(run, "cpus-not-kept")
    assert "io_uring's polling thread (iou-sqp-7)" in finding.statement
    assert "IORING_SETUP_SQ_AFF" in finding.next_step


def test_an_empty_account_says_nothing() -> None:
    run = sound_run()
    first_load(run).process.confinement = [Confinement.model_validate({})]
    assert not fired(run, "cpus-not-kept")


def placed(run: Run, beyond_cpu_s: float | None = None, *threads: StrayThread) -> None:
    watch_of(first_load(run)).placement = WatchedPlacement(allowed=[0], beyond=list(threads), beyond_cpu_s=beyond_cpu_s)


def test_a_thread_that_went_beyond_and_has_ended_since() -> None:
    run = sound_run()
    placed(run, None, StrayThread(pid=7, tid=9, name="spinner", cpus=[0, 1], first_t=0.2, last_t=1.4))
    (finding,) = fired(run, "cpus-not-kept")
    assert "thread 9 (spinner) could run on CPUs [0, 1] from 0.2 s to 1.4 s" in finding.statement


def test_a_thread_that_put_its_set_back_but_had_run_elsewhere() -> None:
    run = sound_run()
    placed(run, None, StrayThread(pid=7, tid=9, name="spinner", cpus=[0], ran_on=1))
    (finding,) = fired(run, "cpus-not-kept")
    assert "was seen on CPU 1" in finding.statement


def test_cpu_time_elsewhere_by_the_kernels_count() -> None:
    run = sound_run()
    placed(run, 0.011)
    (finding,) = fired(run, "cpus-not-kept")
    assert "of CPU time on other CPUs" in finding.statement


def test_next_to_nothing_elsewhere() -> None:
    run = sound_run()
    placed(run, 0.01)
    assert codes(run) == set()
