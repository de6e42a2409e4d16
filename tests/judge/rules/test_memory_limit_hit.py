from touchstone.judge.judgement import Severity
from touchstone.record.evidence.surroundings import MachineState

from ..sound import MIB, codes, fired, first_load, sound_run, watch_of


def test_anonymous_memory_at_the_limit() -> None:
    run = sound_run()
    first_load(run).process.placement.memory_limit = 41 * MIB
    (finding,) = fired(run, "memory-limit-hit")
    assert finding.severity is Severity.SUSPECT


def test_a_killed_process_is_invalid() -> None:
    run = sound_run()
    first_load(run).machine = MachineState.model_validate({"oom_kills": 1})
    (finding,) = fired(run, "memory-limit-hit")
    assert finding.severity is Severity.INVALID


def test_page_cache_up_to_the_limit_is_sound() -> None:
    run = sound_run()
    sample = first_load(run)
    sample.process.placement.memory_limit = 64 * MIB
    sample.machine = MachineState.model_validate({"memory_limit_hits": 500})
    for point in watch_of(sample).series:
        point.cgroup_memory = 64 * MIB
    assert codes(run) == set()


def test_a_process_killed_in_a_cgroup_of_its_own_is_invalid() -> None:
    run = sound_run()
    watch_of(first_load(run)).window.oom_kills = 1
    (finding,) = fired(run, "memory-limit-hit")
    assert finding.severity is Severity.INVALID
