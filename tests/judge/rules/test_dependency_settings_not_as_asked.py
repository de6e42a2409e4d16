from touchstone.record.sample import DependencyState

from ..sound import codes, fired, loads, sound_run


def _postgres(asked: dict[str, object], settings: dict[str, object]) -> DependencyState:
    return DependencyState(name="database", kind="postgres", asked=asked, settings=settings)


def test_a_setting_that_did_not_take() -> None:
    run = sound_run()
    for sample in loads(run):
        sample.dependencies = [_postgres({"synchronous_commit": "on"}, {"synchronous_commit": "off"})]
    assert len(fired(run, "dependency-settings-not-as-asked")) == len(loads(run))


def test_units_and_spellings_are_equal() -> None:
    run = sound_run()
    asked: dict[str, object] = {
        "fsync": True,
        "shared_buffers": "128MB",
        "statement_timeout": "5s",
        "max_connections": 100,
    }
    found: dict[str, object] = {
        "fsync": "on",
        "shared_buffers": "131072kB",
        "statement_timeout": "5000ms",
        "max_connections": "100",
    }
    for sample in loads(run):
        sample.dependencies = [_postgres(asked, found)]
    assert codes(run) == set()


def test_a_load_may_change_a_setting() -> None:
    run = sound_run()
    for sample in loads(run):
        sample.spec.dependency_settings = {"database": {"synchronous_commit": "off"}}
        sample.dependencies = [_postgres({"synchronous_commit": "on"}, {"synchronous_commit": "off"})]
    assert codes(run) == set()
