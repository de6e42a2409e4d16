from touchstone.judge.reading.traffic import slots

from ..sound import codes, fired, first_load, loads, result_of, sound_run


def test_bodies_longer_than_the_answer_that_was_stated() -> None:
    run = sound_run()
    result = result_of(first_load(run))
    result.bytes.body = result.counts.ok * 3138
    result.bytes.received = result.counts.ok * 3300
    (finding,) = list(fired(run, "bytes-unlike-bodies"))
    assert "3,138" in finding.statement


def test_fewer_bytes_than_the_bodies_hold() -> None:
    run = sound_run()
    result = result_of(first_load(run))
    result.bytes.received = result.bytes.body // 2
    assert fired(run, "bytes-unlike-bodies")


def test_streams_in_progress_when_a_slice_begins_have_part_of_their_bytes_before_it() -> None:
    run = sound_run()
    sample = first_load(run)
    result = result_of(sample)
    sample.spec.requests[0]["expect"] = {"pattern": ".*"}
    turns = max(1, len(sample.counted_slices))
    result.counts.ok = 10 * turns * slots(sample)
    result.bytes.body = result.counts.ok * 200
    result.bytes.received = result.bytes.body * 92 // 100
    assert not fired(run, "bytes-unlike-bodies")
    result.bytes.received = result.bytes.body * 85 // 100
    assert fired(run, "bytes-unlike-bodies")


def test_more_digits_in_a_counter_are_right() -> None:
    run = sound_run()
    for sample in loads(run):
        result = result_of(sample)
        sample.spec.requests[0]["expect"]["body"] = "found {counter}"
        result.bytes.body = result.counts.ok * len("found 1234567")
    assert codes(run) == set()


def test_bodies_of_any_length_are_right_where_none_is_stated() -> None:
    run = sound_run()
    for number, sample in enumerate(loads(run)):
        result = result_of(sample)
        sample.spec.requests[0]["expect"] = {"pattern": "found [0-9]+"}
        result.bytes.body = result.counts.ok * (40 + number % 3)
    assert codes(run) == set()


def test_the_message_of_a_grpc_call_is_stated_in_json_and_has_other_bytes() -> None:
    run = sound_run()
    for sample in loads(run):
        assert sample.result is not None
        sample.result.bytes.body = sample.result.counts.ok * 5
        sample.spec.requests[:] = [request | {"grpc": "a.S/M"} for request in sample.spec.requests]
    assert "bytes-unlike-bodies" not in codes(run)
