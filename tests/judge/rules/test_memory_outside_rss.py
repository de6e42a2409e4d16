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


def test_bytes_that_wait_in_pipes() -> None:
    run = sound_run()
    first_load(run).process.confinement = [Confinement(kernel=100 * MIB, kernel_resident=4 * MIB)]
    (finding,) = fired(run, "memory-outside-rss")
    assert finding.statement.startswith("100 MiB of kernel memory, such as pipes and sockets")
    assert "4 MiB of RSS" in finding.statement
    assert finding.doubt is not None
    assert (finding.doubt.faster, finding.doubt.slower) == (1.0, 26.0)


@pytest.mark.parametrize(("kernel", "resident"), [(3 * MIB, MIB), (9 * MIB, 100 * MIB)])
def test_a_little_kernel_memory_is_allowed(kernel: int, resident: int) -> None:
    run = sound_run()
    first_load(run).process.confinement = [Confinement(kernel=kernel, kernel_resident=resident)]
    assert not fired(run, "memory-outside-rss")
