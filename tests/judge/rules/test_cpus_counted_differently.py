from touchstone.record.process import CountedCpus
from touchstone.record.run import Run

from ..sound import fired, loads, sound_run


def counting(*counts: tuple[int, str]) -> Run:
    run = sound_run()
    names = list(dict.fromkeys(sample.contender for sample in loads(run)))
    by_name = dict(zip(names, counts, strict=False))
    for sample in loads(run):
        if sample.contender in by_name:
            count, runtime = by_name[sample.contender]
            counted = CountedCpus(count=count, runtime=runtime)
            sample.process.placement = sample.process.placement.model_copy(
                update={"cpu_limit": 1.5, "counted_cpus": counted}
            )
    return run


def test_runtimes_that_round_a_quota_in_two_ways() -> None:
    (finding,) = fired(counting((2, "java"), (1, "rust")), "cpus-counted-differently")
    assert "limit of 1.5 CPUs" in finding.statement
    assert "(java) 2" in finding.statement
    assert "(rust) 1" in finding.statement


def test_runtimes_that_count_alike() -> None:
    assert not fired(counting((2, "java"), (2, "go 1.26")), "cpus-counted-differently")
