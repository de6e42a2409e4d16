from touchstone.judge.judgement import Severity
from touchstone.record.engine import ResponsesByConnection

from ..slices import sliced_run
from ..sound import distribution, fired, first_load, load_figures, result_of, sound_run


def test_milliseconds_taken_for_seconds() -> None:
    run = sound_run()
    sample = first_load(run)
    result = result_of(sample)
    result.latency = distribution((result.latency.mean or 0) * 1000, result.latency.count)
    sample.figures = load_figures(result)
    (finding,) = fired(run, "littles-law")
    assert finding.severity is Severity.INVALID


def test_half_of_the_connections_idle() -> None:
    run = sound_run()
    result = result_of(first_load(run))
    result.latency = distribution((result.latency.mean or 0) / 2, result.latency.count)
    (finding,) = fired(run, "littles-law")
    assert finding.severity is Severity.INVALID


def test_a_pipelining_client_has_more_under_way_than_connections() -> None:
    run = sound_run()
    sample = first_load(run)
    result = result_of(sample)
    sample.spec.pipeline = 16
    result.latency = distribution((result.latency.mean or 0) * 16, result.latency.count)
    assert not fired(run, "littles-law")


def test_an_open_loop_with_idle_connections_is_sound() -> None:
    assert not fired(sound_run(offered=1000.0), "littles-law")


def test_a_long_latency_in_a_short_window_hangs_over_its_edges() -> None:
    run = sound_run(contenders={"go/std": 64.0}, seconds=3.0)
    for sample in run.samples:
        if sample.result:
            sample.result.latency.mean = (sample.result.latency.mean or 0) * 1.2
    assert not fired(run, "littles-law")


def test_a_server_that_is_stopped_as_the_window_ends_is_sound() -> None:
    run = sound_run(seconds=1.0, noise=0.0)
    for sample in run.samples:
        if sample.result:
            sample.result.window.drain_s = 0.25
            sample.result.latency.max = 0.26
            sample.result.latency.mean = (sample.result.latency.mean or 0) * 1.24
    assert not fired(run, "littles-law")


def test_what_is_waited_for_excuses_no_wrong_unit() -> None:
    run = sound_run(seconds=1.0)
    result = result_of(first_load(run))
    result.window.drain_s = 0.25
    result.latency = distribution((result.latency.mean or 0) * 1000, result.latency.count)
    assert fired(run, "littles-law")


def test_an_engine_that_waits_for_a_cpu_leaves_connections_idle() -> None:
    run = sound_run()
    result = result_of(first_load(run))
    result.latency = distribution((result.latency.mean or 0) * 0.84, result.latency.count)
    assert fired(run, "littles-law")
    result.generator.threads[0].delayed_s = 0.1 * result.window.measured_s
    assert not fired(run, "littles-law")


def test_the_first_requests_of_each_turn_have_no_latency_and_are_not_missed() -> None:
    # 64 connections at 1,000/s: of the 250 requests of a slice the first 64 are in no distribution.
    run = sliced_run({"go/std": 1000.0, "rust/std": 1000.0}, noise=0.0)
    for sample in run.samples:
        if sample.slices and sample.result:
            sample.result.latency = distribution(0.064, round(sample.result.latency.count * 186 / 250))
    assert not fired(run, "littles-law")


def test_a_wrong_unit_is_seen_in_slices_as_well() -> None:
    run = sliced_run({"go/std": 20_000.0, "rust/std": 20_000.0})
    result = result_of(first_load(run))
    result.latency = distribution((result.latency.mean or 0) / 2, result.latency.count)
    assert fired(run, "littles-law")


def test_responses_that_a_slice_awaits_for_long_are_told_as_the_reason() -> None:
    for awaited, told in ((1.0, True), (0.01, False)):
        run = sliced_run({"go/plain": 10_000.0, "rust/plain": 10_000.0})
        sample = first_load(run)
        result = result_of(sample)
        result.latency = distribution((result.latency.mean or 0) * 2, result.latency.count)
        sample.figures = load_figures(result)
        assert sample.slices is not None
        sample.slices.slices[3].end += awaited
        (finding,) = fired(run, "littles-law")
        assert ("awaiting responses" in finding.statement) is told
        assert ("--whole-windows" in (finding.next_step or "")) is told


def test_starved_connections_explain_a_product_that_falls_short() -> None:
    run = sound_run()
    sample = first_load(run)
    result = result_of(sample)
    result.latency = distribution((result.latency.mean or 0) / 2, result.latency.count)
    (alone,) = fired(run, "littles-law")
    result.by_connection = ResponsesByConnection(fewest=60, median=140, most=150, behind=1, share=0.005)
    result.held_up = None
    (finding,) = fired(run, "littles-law")
    (cause,) = fired(run, "connections-wait")
    assert alone.severity is Severity.INVALID
    assert finding.severity is cause.severity is Severity.SUSPECT
    assert "connections-wait" in finding.statement


def test_what_a_quota_holds_up_at_the_end_of_slices_is_in_the_latencies_and_not_in_the_rate() -> None:
    run = sliced_run({"go/plain": 10_000.0, "rust/plain": 10_000.0}, noise=0.0)
    sample = first_load(run)
    result = result_of(sample)
    # Whole generations end after 60 % of each slice; the rest is spent with requests that a quota holds up.
    result.latency = distribution((result.latency.mean or 0) * 1.6, result.latency.count)
    sample.figures = load_figures(result)
    assert fired(run, "littles-law")
    assert sample.slices is not None
    for one in sample.slices.slices:
        one.end += 0.15
    assert not fired(run, "littles-law")


def test_what_the_host_took_explains_a_product_that_falls_short() -> None:
    run = sound_run()
    result = result_of(first_load(run))
    result.latency = distribution((result.latency.mean or 0) * 0.84, result.latency.count)
    result.machine.steal_s = 0.1 * result.window.measured_s
    assert not fired(run, "littles-law")
