import pytest

from touchstone.judge.judgement import Severity
from touchstone.record.run import Run
from touchstone.record.sample import DependencyState, ProofOutcome

from ..slices import put_slices
from ..sound import fired, loads, result_of, sound_run

ROWS = ("database_tup_inserted", "database_tup_updated", "database_tup_deleted")


TWO = {"go/std": 20_000.0, "rust/std": 26_000.0}


def worked(kind: str, by_contender: dict[str, dict[str, float]], contenders: dict[str, float] | None = None) -> Run:
    """Each contender's counters as a multiple of its correct responses; contenders not named work as all others."""
    run = sound_run(contenders=contenders)
    for sample in loads(run):
        totals = result_of(sample).totals
        totals.sent, totals.completed, totals.ok = 100_016, 100_000, 100_000
        per = by_contender["everyone"] | by_contender.get(sample.contender, {})
        before = dict.fromkeys(per, 7.0)
        after = {name: 7.0 + times * totals.ok for name, times in per.items()}
        sample.dependencies = [DependencyState(name="other", kind=kind, before=before, after=after)]
        sample.proofs = []
    return run


def read(rows: float, *, scans: float = 0.0) -> dict[str, float]:
    """PostgreSQL's counts for this number of rows and scans for each response, by an index."""
    return {
        "tables_seq_scan": 0.0, "tables_idx_scan": scans, "tables_seq_tup_read": 0.0, "tables_idx_tup_read": rows,
    }  # fmt: skip


def test_four_calls_for_five_responses() -> None:
    (finding,) = fired(worked("echo", {"everyone": {"hits": 1.0}, "go/std": {"hits": 0.8}}), "less-work")
    assert finding.contender == "go/std"
    assert "20 % less" in finding.statement
    assert finding.severity is Severity.SUSPECT
    assert finding.doubt is not None
    assert finding.doubt.slower == pytest.approx(1.25, rel=0.01)


@pytest.mark.parametrize(("share", "count"), [(0.994, 1), (0.996, 0), (1.0, 0)])
def test_calls_are_counted_exactly(share: float, count: int) -> None:
    run = worked("echo", {"everyone": {"hits": 1.0}, "go/std": {"hits": share}})
    assert len(fired(run, "less-work")) == count


def test_the_contract_within_the_load_makes_no_other_do_less() -> None:
    run = worked("echo", {"everyone": {"hits": 1.0}})
    for sample in loads(run, "go/std"):
        totals = result_of(sample).totals
        totals.sent, totals.completed, totals.ok = 1_516, 1_500, 1_500
        sample.asked_in_load = 60
        sample.dependencies[0].after["hits"] = 7.0 + 1_560
    assert not fired(run, "less-work")


def test_what_was_sent_and_not_answered_may_have_been_worked_for() -> None:
    run = worked("echo", {"everyone": {"hits": 1.0}})
    for sample in loads(run, "go/std"):
        totals = result_of(sample).totals
        totals.sent, totals.ok = 100_000, 95_000
        sample.dependencies[0].after["hits"] = 7.0 + 100_000
    assert not fired(run, "less-work")


@pytest.mark.parametrize(("share", "count"), [(0.9, 1), (0.97, 0)])
def test_a_database_counts_late(share: float, count: int) -> None:
    everyone = dict.fromkeys(ROWS, 1 / 3)
    run = worked("postgres", {"everyone": everyone, "go/std": dict.fromkeys(ROWS, share / 3)})
    assert len(fired(run, "less-work")) == count


@pytest.mark.parametrize(("laps", "share", "count"), [(12, 0.85, 1), (12, 0.95, 0), (3, 0.7, 0)])
def test_of_a_load_in_turns_a_part_of_the_last_second_is_counted_late(laps: int, share: float, count: int) -> None:
    """Each lap is a second, with a quarter of load; one round of three laps is loaded for less than a second."""
    everyone = dict.fromkeys(ROWS, 1 / 3)
    run = worked("postgres", {"everyone": everyone, "go/std": dict.fromkeys(ROWS, share / 3)}, TWO)
    run.samples = [sample for sample in run.samples if sample.round in (None, 1)]
    for sample in loads(run):
        put_slices(sample, [20_000.0] * laps)
    assert len(fired(run, "less-work")) == count


def test_a_transaction_for_more_rows_is_noted() -> None:
    everyone = dict.fromkeys(ROWS, 1 / 3) | {
        "database_xact_commit": 3.0,
        "database_xact_rollback": 0.0,
        **read(1.0),
    }
    run = worked("postgres", {"everyone": everyone, "go/std": {"database_xact_commit": 1.0}})
    (finding,) = fired(run, "less-work")
    assert finding.severity is Severity.NOTE


def test_transactions_that_touch_no_row_are_not_counted_in_time() -> None:
    everyone = {"database_xact_commit": 1.0, "database_xact_rollback": 0.0}
    assert not fired(worked("postgres", {"everyone": everyone, "go/std": {"database_xact_commit": 0.0}}), "less-work")


def test_fewer_rows_in_fewer_transactions_are_one_finding() -> None:
    everyone = {"database_xact_commit": 1.0, "database_xact_rollback": 0.0} | read(1.0, scans=1.0)
    skips = {"database_xact_commit": 0.8} | read(0.8, scans=0.8)
    (finding,) = fired(worked("postgres", {"everyone": everyone, "go/std": skips}), "less-work")
    assert "rows read" in finding.statement


def test_a_service_that_looks_something_up_by_itself_now_and_then() -> None:
    assert not fired(worked("echo", {"everyone": {"hits": 0.01}, "go/std": {"hits": 0.0}}), "less-work")


def test_who_works_once_does_not_do_less_than_an_exhibit_that_calls_twice() -> None:
    run = worked("echo", {"everyone": {"hits": 1.0}, "go/std": {"hits": 2.0}})
    for contender in run.plan.contenders:
        contender.exhibit = "calls twice" if contender.name == "go/std" else None
    assert not fired(run, "less-work")


@pytest.mark.parametrize(("hits", "count"), [(1.004, 0), (1.02, 1), (2.0, 1)])
def test_who_does_more_than_most_others_is_named_and_they_are_not(hits: float, count: int) -> None:
    found = fired(worked("echo", {"everyone": {"hits": 1.0}, "go/std": {"hits": hits}}), "less-work")
    assert [finding.contender for finding in found] == ["go/std"] * count
    for finding in found:
        assert "do more work per response than the others" in finding.statement
        assert finding.doubt is not None
        assert finding.doubt.faster == pytest.approx(hits, rel=0.001)
        assert finding.doubt.slower == 1


def test_of_two_that_do_unequal_work_neither_is_named() -> None:
    run = worked("echo", {"everyone": {"hits": 1.0}, "rust/std": {"hits": 1.02}}, TWO)
    (finding,) = fired(run, "less-work")
    assert finding.contender is None
    assert finding.doubt is not None
    assert finding.doubt.slower == pytest.approx(1.02, rel=0.001)
    assert "go/std" in finding.statement
    assert "rust/std" in finding.statement


@pytest.mark.parametrize(("proven", "count"), [(True, 1), (False, 0)])
def test_who_breaks_its_own_proof_is_no_measure_for_others(proven: bool, count: int) -> None:
    run = worked("echo", {"everyone": {"hits": 1.0}, "rust/std": {"hits": 1.02}}, TWO)
    for sample in loads(run, "rust/std"):
        sample.proofs = [ProofOutcome(says="one call each", query="hits:/", expected=1, found=2, passed=proven)]
    assert len(fired(run, "less-work")) == count


@pytest.mark.parametrize(("rows", "count"), [(1.0, 0), (0.8, 1)])
def test_another_plan_reads_more_rows_for_the_same_answer(rows: float, count: int) -> None:
    run = worked("postgres", {"everyone": read(16.0), "go/std": read(rows)})
    assert len(fired(run, "less-work")) == count


@pytest.mark.parametrize(
    ("rows", "scans", "count"), [(1.0, 1.0, 1), (1.8, 1.88, 1), (1.8, 1.92, 0), (1.92, 1.0, 0), (40.0, 1.0, 0)]
)
def test_who_leaves_out_one_look_up_of_two_scans_less_and_reads_less(rows: float, scans: float, count: int) -> None:
    run = worked("postgres", {"everyone": read(2.0, scans=2.0), "go/std": read(rows, scans=scans)})
    found = fired(run, "less-work")
    assert [finding.contender for finding in found] == ["go/std"] * count
    assert all("scans of tables" in finding.statement for finding in found)
