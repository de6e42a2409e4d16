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


def waiting_engine(dependency_cpus: list[int], used_s: float) -> str:
    """What is said, and to be done, where the engine waited for its CPU next to a dependency."""
    run = sound_run()
    sample = first_load(run)
    result = result_of(sample)
    sample.process.placement.engine_cpus, sample.process.placement.dependency_cpus = [1], dependency_cpus
    result.machine.dependencies_cpu_s = {"database": used_s}
    result.generator.threads[0].delayed_s = 0.25 * result.window.measured_s
    result.generator.stands, result.generator.reasons = False, ["generator thread 0 waited 25 % of its time for a CPU"]
    (finding,) = fired(run, "engine-withdraws")
    assert finding.doubt is not None
    return f"{finding.statement} {finding.next_step}"


def test_the_dependency_that_shares_its_cpu_is_named() -> None:
    said = waiting_engine([1], used_s=2.0)
    assert "the dependency database shares CPUs with the engine" in said
    assert "--postgres URL" in said


def test_a_dependency_elsewhere_or_one_that_did_nothing_is_not_named() -> None:
    assert "database" not in waiting_engine([2], used_s=2.0)
    assert "database" not in waiting_engine([1], used_s=0.0)
