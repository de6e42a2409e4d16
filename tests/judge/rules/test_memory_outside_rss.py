import pytest

from touchstone.record.evidence.surroundings import Confinement

from ..sound import MIB, fired, first_load, sound_run


def test_shared_memory_that_nobody_maps() -> None:
    run = sound_run()
    first_load(run).process.confinement = [
        Confinement.model_validate(found) for found in [{"unmapped_shared": 64 * MIB, "resident": 2 * MIB}]
    ]
    (finding,) = fired(run, "memory-outside-rss")
    assert "64 MiB" in finding.statement
    assert finding.figures is not None
    assert "rss_peak" in finding.figures
    assert "throughput" not in finding.figures


@pytest.mark.parametrize(("hidden", "resident"), [(MIB // 2, MIB), (4 * MIB, 100 * MIB)])
def test_a_little_is_allowed(hidden: int, resident: int) -> None:
    run = sound_run()
    first_load(run).process.confinement = [
        Confinement.model_validate(found) for found in [{"unmapped_shared": hidden, "resident": resident}]
    ]
    assert not fired(run, "memory-outside-rss")
