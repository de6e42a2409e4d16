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


def test_a_cache_that_the_jvm_does_not_take_is_named_once_with_the_jvms_words() -> None:
    run = with_cache(AotCache(file="app.aot", refused="The AOT cache's UseCompactObjectHeaders setting does not equal"))
    (finding,) = fired(run, "aot-cache-refused")
    assert "app.aot: The AOT cache's UseCompactObjectHeaders" in finding.statement


def test_a_cache_that_is_taken() -> None:
    assert not fired(with_cache(AotCache(file="app.aot", classes=800, loaded=810)), "aot-cache-refused")
