import pytest

from touchstone.record.run import Run
from touchstone.record.sample import DependencyState, WrittenFile

from ..sound import fired, loads, sound_run


def written(database: float, log: float, others: float = 0.9, *, asked: str | None = None, looks: int = 100) -> Run:
    """`go/std` leaves changes waiting in these shares of the looks; the others in the share `others` of both files."""
    run = sound_run()
    for sample in loads(run):
        shares = (database, log) if sample.contender == "go/std" else (others, others)
        sample.dependencies = [
            DependencyState(
                name="store",
                kind="sqlite",
                asked={} if asked is None else {"synchronous": asked},
                written={
                    file: WrittenFile(looks=looks, waiting=round(looks * part))
                    for file, part in zip(("database", "log"), shares, strict=True)
                },
            )
        ]
    return run


def test_one_of_several_leaves_its_writes_to_the_kernel() -> None:
    found = fired(written(0.99, 0.99), "writes-not-synced")
    assert {f.contender for f in found} == {"go/std"}
    assert "of its database in 99 % of 100 checks" in found[0].statement


def test_all_do_though_the_scenario_asks_for_syncs() -> None:
    found = fired(written(0.99, 0.99, 0.99, asked="NORMAL"), "writes-not-synced")
    assert {f.contender for f in found} == {"go/std", "rust/std", "kotlin/jvm"}


def test_a_log_that_is_to_be_synced_with_each_commit() -> None:
    assert fired(written(0.1, 0.99, asked="FULL"), "writes-not-synced")


@pytest.mark.parametrize(
    "run",
    [
        written(1.0, 0.97, asked="NORMAL"),
        written(0.97, 1.0, asked="NORMAL"),
        written(0.99, 0.99, 0.97),
        written(0.99, 0.99, asked="OFF", others=0.99),
        written(0.99, 0.99, asked="NORMAL", looks=39),
    ],
    ids=["the log is synced", "the database is synced", "nobody syncs", "none is asked for", "few checkpoints"],
)
def test_checkpoints_or_a_scenario_that_does_not_ask(run: Run) -> None:
    assert not fired(run, "writes-not-synced")
