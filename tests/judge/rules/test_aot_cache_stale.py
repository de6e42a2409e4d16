from touchstone.record.process import AotCache
from touchstone.record.run import Run

from ..sound import fired, first_load, sound_run


def with_cache(cache: AotCache) -> Run:
    run = sound_run()
    name = first_load(run).contender
    for sample in run.samples:
        if sample.contender == name and sample.phase != "build":
            sample.process.aot_cache = cache
    return run


def test_a_cache_that_is_older_than_the_jar() -> None:
    run = with_cache(AotCache(file="app.aot", classes=800, loaded=810, newer=["app.jar"]))
    (finding,) = fired(run, "aot-cache-stale")
    assert "is older than app.jar" in finding.statement


def test_an_old_cache_that_is_refused_runs_no_old_code() -> None:
    run = with_cache(AotCache(file="app.aot", refused="another JDK", newer=["app.jar"]))
    assert not fired(run, "aot-cache-stale")


def test_a_cache_of_this_program() -> None:
    assert not fired(with_cache(AotCache(file="app.aot", classes=800, loaded=810)), "aot-cache-stale")
