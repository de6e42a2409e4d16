import pytest

from touchstone.record.process import HeapBound

from ..sound import MIB, codes, fired, first_load, sound_run


@pytest.mark.parametrize(
    "argv,env",
    [
        (["java", "-Xmx128m", "-jar", "x.jar"], {}),
        (["java", "-jar", "x.jar"], {"JAVA_TOOL_OPTIONS": "-XX:+UseSerialGC -Xmx1g"}),
        (["./server"], {"GOMEMLIMIT": "200MiB"}),
        (["node", "--max-old-space-size=512", "x.js"], {}),
    ],
)
def test_a_heap_above_the_limit(argv: list[str], env: dict[str, str]) -> None:
    run = sound_run()
    sample = first_load(run)
    sample.process.argv, sample.process.env, sample.process.placement.memory_limit = argv, env, 100 * MIB
    (finding,) = fired(run, "heap-above-limit")
    assert "100 MiB" in finding.statement


def test_a_heap_below_the_limit() -> None:
    run = sound_run()
    sample = first_load(run)
    sample.process.argv, sample.process.placement.memory_limit = ["java", "-Xmx52m", "-jar", "x.jar"], 100 * MIB
    assert codes(run) == set()


def test_no_limit_no_finding() -> None:
    run = sound_run()
    first_load(run).process.argv = ["java", "-Xmx8g", "-jar", "x.jar"]
    assert codes(run) == set()


@pytest.mark.parametrize(
    ("runtime", "heap_mb", "advice"),
    [
        ("node", 262, "--max-old-space-size"),  # Node.js 26.10 under any limit below 512 MiB
        ("deno", 4192, "--v8-flags"),  # Deno 2.9.6 under any limit
    ],
)
def test_a_runtime_that_does_not_fit_its_heap_to_the_limit(runtime: str, heap_mb: int, advice: str) -> None:
    run = sound_run()
    place = first_load(run).process.placement
    place.memory_limit, place.heap_bound = 128 * MIB, HeapBound(bytes=heap_mb * MIB, runtime=runtime)
    (finding,) = fired(run, "heap-above-limit")
    assert runtime in finding.statement
    assert advice in finding.next_step


def test_a_flag_is_named_once() -> None:
    run = sound_run()
    sample = first_load(run)
    sample.process.argv, place = ["node", "--max-old-space-size=512", "x.js"], sample.process.placement
    place.memory_limit, place.heap_bound = 100 * MIB, HeapBound(bytes=530 * MIB, runtime="node")
    (finding,) = fired(run, "heap-above-limit")
    assert "--max-old-space-size=512" in finding.statement


def test_java_fits_its_heap_to_the_limit() -> None:
    run = sound_run()
    place = first_load(run).process.placement
    place.memory_limit, place.heap_bound = 128 * MIB, HeapBound(bytes=64 * MIB, runtime="java")
    assert not fired(run, "heap-above-limit")
