import pytest

from touchstone.record.evidence.surroundings import Confinement

from ..sound import fired, first_load, sound_run


@pytest.mark.parametrize(
    ("account", "says"),
    [
        (Confinement(memory_limit=64 << 20), "the memory limit changed to 64 MiB"),
        (Confinement(cpu_limit=1.5), "the CPU limit changed to 1.5 CPUs"),
        (Confinement(limits_gone=["memory", "cpu"]), "the memory limit was removed; the CPU limit was removed"),
        (Confinement(changed={"cpu.weight": ["100", "10000"]}), "cpu.weight changed from 100 to 10000"),
    ],
)
def test_a_limit_that_did_not_last(account: Confinement, says: str) -> None:
    run = sound_run()
    first_load(run).process.confinement = [account, Confinement()]
    (finding,) = fired(run, "limit-lifted")
    assert finding.statement == f"a limit or priority changed in 1 of the service's starts: {says}"


def test_an_account_of_something_else() -> None:
    run = sound_run()
    first_load(run).process.confinement = [Confinement(resident=1 << 20)]
    assert not fired(run, "limit-lifted")
