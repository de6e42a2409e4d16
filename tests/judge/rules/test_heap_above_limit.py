import pytest

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
