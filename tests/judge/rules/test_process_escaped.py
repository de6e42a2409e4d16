import pytest

from touchstone.record.evidence.surroundings import Confinement

from ..sound import fired, first_load, sound_run


@pytest.mark.parametrize("where", ["strays", "left_cgroup"])
def test_a_process_outside(where: str) -> None:
    run = sound_run()
    process = {"pid": 4711, "argv": ["./daemon"], "cpu_s": 1.5, "rss": 64 << 20}
    first_load(run).process.confinement = [Confinement.model_validate({where: [process]})]
    (finding,) = fired(run, "process-escaped")
    assert "4711" in finding.statement
    assert "64 MiB" in finding.statement


def test_one_that_has_gone_meanwhile_has_no_figures() -> None:
    run = sound_run()
    first_load(run).process.confinement = [Confinement.model_validate({"strays": [{"pid": 4711}]})]
    (finding,) = fired(run, "process-escaped")
    assert finding.statement.startswith("process 4711 was outside")


def test_a_process_found_for_another_reason() -> None:
    run = sound_run()
    first_load(run).process.confinement = [
        Confinement.model_validate({"raised": [{"pid": 7, "thread": 7, "nice": -5}]})
    ]
    assert not fired(run, "process-escaped")
