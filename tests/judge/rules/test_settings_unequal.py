from ..sound import codes, fired, loads, sound_run


def test_a_larger_pool_for_one() -> None:
    run = sound_run()
    for sample in loads(run, "go/std"):
        sample.process.env["POOL_SIZE"] = "100"
    (finding,) = fired(run, "settings-unequal")
    assert "100 for go/std" in finding.statement
    assert finding.contender == "go/std"  # the two others agree


def test_a_setting_of_one_stack_is_its_own() -> None:
    run = sound_run()
    for sample in loads(run, "kotlin/jvm"):
        sample.process.env |= {"JAVA_MAX_POOL": "3", "DATABASE_PATH": "another.db"}
    assert codes(run) == set()
