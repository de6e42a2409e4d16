from ..sound import fired, first_load, sound_run


def test_rows_from_before() -> None:
    run = sound_run()
    first_load(run).dependencies[0].leftovers = ["table users held 17 rows"]
    (finding,) = fired(run, "leftovers")
    assert "17 rows" in finding.statement
