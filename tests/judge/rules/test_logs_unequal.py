import pytest

from touchstone.judge.judgement import Severity
from touchstone.record.run import Run

from ..sound import codes, fired, loads, result_of, sound_run


def _log(run: Run, contender: str, each: float, start: int = 5_000) -> None:
    """Log bytes for each response, in a log of each round's process."""
    for sample in loads(run, contender):
        sample.process.log = f"logs/{contender}-{sample.round}.log"
        sample.process.log_bytes = start + int(each * result_of(sample).counts.completed)


def test_who_alone_logs_each_request_is_told() -> None:
    run = sound_run()
    for contender, each in (("go/std", 0.0), ("rust/std", 80.0), ("kotlin/jvm", 0.1)):
        _log(run, contender, each)
    (finding,) = fired(run, "logs-unequal")
    assert (finding.contender, finding.severity) == ("rust/std", Severity.SUSPECT)
    assert finding.doubt is not None
    assert (finding.doubt.faster, finding.doubt.slower) == (None, 1.0)


def test_so_is_who_alone_does_not() -> None:
    run = sound_run()
    for contender, each in (("go/std", 75.0), ("rust/std", 0.0), ("kotlin/jvm", 120.0)):
        _log(run, contender, each)
    (finding,) = fired(run, "logs-unequal")
    assert finding.contender == "rust/std"
    assert finding.doubt is not None
    assert (finding.doubt.faster, finding.doubt.slower) == (1.0, None)


@pytest.mark.parametrize("each", [(80.0, 60.0, 200.0), (6.0, 0.0, 0.0)])
def test_all_of_them_or_a_line_now_and_then(each: tuple[float, float, float]) -> None:
    run = sound_run()
    for contender, bytes_ in zip(("go/std", "rust/std", "kotlin/jvm"), each, strict=True):
        _log(run, contender, bytes_)
    assert codes(run) == ({"logs-each-request"} if min(each) > 0 else set())


def test_a_banner_is_no_log_of_requests() -> None:
    run = sound_run()
    for contender in ("go/std", "rust/std", "kotlin/jvm"):
        _log(run, contender, 0.0, start=30_000 if contender == "kotlin/jvm" else 0)
        for sample in loads(run, contender):
            result = result_of(sample)
            result.counts.completed = result.totals.completed = 100
    assert not fired(run, "logs-unequal")


def test_records_that_do_not_say() -> None:
    assert codes(sound_run()) == set()


@pytest.mark.parametrize(("appended", "told"), [(80.0, {"rust/std"}), (6.0, set())])
def test_a_log_of_its_own_counts_like_standard_output(appended: float, told: set[str]) -> None:
    run = sound_run()
    for contender in ("go/std", "rust/std", "kotlin/jvm"):
        _log(run, contender, 0.0)
    for sample in loads(run, "rust/std"):
        sample.process.log_file_bytes = int(appended * result_of(sample).counts.completed)
    assert {f.contender for f in fired(run, "logs-unequal")} == told
