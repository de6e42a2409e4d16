from ..sound import codes, fired, first_load, result_of, sound_run


def test_a_reason_that_no_number_explains() -> None:
    run = sound_run()
    generator = result_of(first_load(run)).generator
    generator.stands, generator.reasons = False, ["generator thread 0 waited 3 s for a CPU"]
    (finding,) = fired(run, "engine-withdraws")
    assert "waited 3 s" in finding.statement


def test_a_busy_engine_before_a_full_server_is_weighed_by_its_own_rule() -> None:
    run = sound_run()
    generator = result_of(first_load(run)).generator
    generator.threads[0].busy = 0.99
    generator.stands, generator.reasons = False, ["thread 0 was busy 99 % of the time"]
    assert codes(run) == set()
