from ..sound import fired, loads, result_of, sound_run


def test_a_contender_that_sends_twice_the_bytes() -> None:
    run = sound_run()
    for sample in loads(run):
        sample.spec.requests = []
    for sample in loads(run, "go/std"):
        result_of(sample).bytes.body *= 2
        result_of(sample).bytes.received *= 2
    (finding,) = fired(run, "unequal-bodies")
    assert "from go/std" in finding.statement


def test_a_digit_more_is_no_difference() -> None:
    run = sound_run()
    for sample in loads(run, "go/std"):
        result_of(sample).bytes.body += result_of(sample).counts.ok
        sample.spec.requests = []
    assert not fired(run, "unequal-bodies")
