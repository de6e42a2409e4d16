from ..slices import sliced_run
from ..sound import fired, first_load, loads, result_of, sound_run


def test_the_rate_of_one_thread_quoted_as_the_total() -> None:
    run = sound_run()
    sample = first_load(run)
    result_of(sample).rate.achieved /= 2
    sample.figures["throughput"] /= 2
    (finding,) = fired(run, "counts-contradict")
    assert "make" in finding.statement


def test_the_rate_of_one_thread_quoted_as_that_of_slices() -> None:
    run = sliced_run({"go/std": 20_000.0, "rust/std": 21_000.0})
    assert not fired(run, "counts-contradict")
    sample = first_load(run)
    result_of(sample).rate.achieved /= 4
    sample.figures["throughput"] /= 4
    (finding,) = fired(run, "counts-contradict")
    assert "make" in finding.statement


def test_requests_that_ended_in_no_way() -> None:
    run = sound_run()
    counts = result_of(first_load(run)).counts
    counts.sent = int(counts.sent * 1.1)
    (finding,) = fired(run, "counts-contradict")
    assert "outcomes were counted" in finding.statement


def test_one_request_that_ended_in_no_way_is_one_too_many_unless_the_record_is_old() -> None:
    run = sound_run()
    result = result_of(first_load(run))
    result.counts.failed += 1
    assert fired(run, "counts-contradict")
    result.schema_ = "touchstone.load/1"
    assert not fired(run, "counts-contradict")


def test_latencies_that_leave_requests_out() -> None:
    run = sound_run()
    result_of(first_load(run)).latency.count //= 2
    assert any("latencies were recorded for" in f.statement for f in fired(run, "counts-contradict"))


def test_a_short_slow_load_has_many_requests_at_its_edges() -> None:
    run = sound_run(contenders={"go/std": 40.0}, seconds=2.0)
    for sample in loads(run):
        result_of(sample).rate.achieved *= 0.7
        sample.figures["throughput"] *= 0.7
    assert not fired(run, "counts-contradict")
