import math

import pytest

from touchstone.judge.figures import BOOT_TIME, CPU, MEMORY, SPEED
from touchstone.judge.judge import judge
from touchstone.judge.judgement import Outcome, Severity

from ..sound import codes, fired, loads, sound_run


def test_who_was_started_for_its_developers_is_told_with_the_sign() -> None:
    run = sound_run()
    for sample in loads(run, "rust/std"):
        sample.process.argv, sample.process.env = ["./target/debug/api"], {"RUST_LOG": "debug"}
    (finding,) = fired(run, "development-mode")
    assert (finding.contender, finding.severity) == ("rust/std", Severity.SUSPECT)
    assert "a program of target/debug; RUST_LOG=debug" in finding.statement


def test_so_was_who_was_built_without_optimisation() -> None:
    run = sound_run()
    (build,) = [s for s in run.samples if s.build is not None and s.contender == "go/std"]
    assert build.build is not None
    build.build.commands = [["go", "build", "-race", "."]]
    (finding,) = fired(run, "development-mode")
    assert finding.evidence == {"signs": ["go build -race"]}


def test_so_was_one_whose_program_says_so_itself() -> None:
    run = sound_run()
    (build,) = [s for s in run.samples if s.build is not None and s.contender == "go/std"]
    assert build.build is not None
    build.build.signs = ["api: built with AddressSanitizer"]
    (finding,) = fired(run, "development-mode")
    assert (finding.contender, finding.evidence) == ("go/std", {"signs": ["api: built with AddressSanitizer"]})


def test_so_was_whose_compiler_was_told_by_its_environment() -> None:
    run = sound_run()
    (build,) = [s for s in run.samples if s.build is not None and s.contender == "go/std"]
    assert build.build is not None
    build.build.env = {"GOFLAGS": "-race"}
    (finding,) = fired(run, "development-mode")
    assert (finding.contender, finding.evidence) == ("go/std", {"signs": ["GOFLAGS=-race"]})


def test_an_exhibit_is_what_it_is_meant_to_be() -> None:
    run = sound_run()
    loads(run, "rust/std")[0].process.argv = ["./target/debug/api"]
    next(c for c in run.plan.contenders if c.name == "rust/std").exhibit = "not optimised"
    assert "development-mode" not in codes(run)


@pytest.mark.parametrize(("rate", "outcome"), [(60_000.0, Outcome.BETTER), (10_000.0, Outcome.UNDECIDED)])
def test_it_may_be_faster_and_is_not_slower(rate: float, outcome: Outcome) -> None:
    run = sound_run(contenders={"go/std": 20_000.0, "rust/std": rate}, tare_rate=200_000.0)
    for sample in loads(run, "rust/std"):
        sample.process.argv = ["./target/debug/api"]
    (found,) = [c for c in judge(run).comparisons if (c.contender, c.figure) == ("rust/std", "throughput")]
    assert (found.outcome, found.high) == (outcome, math.inf)


def test_a_runtime_that_compiles_less_may_start_sooner_and_hold_less_than_deployed() -> None:
    run = sound_run()
    for sample in loads(run, "rust/std"):
        sample.process.argv = ["java", "-XX:TieredStopAtLevel=1", "-ea", "-jar", "app.jar"]
    speed, rest = fired(run, "development-mode")
    assert (speed.doubt and speed.doubt.slower, rest.doubt and rest.doubt.slower) == (1.0, None)
    assert set(speed.figures or ()) == {*SPEED, *CPU}
    assert set(rest.figures or ()) == {*MEMORY, *BOOT_TIME}
    assert rest.evidence == {"signs": ["java -XX:TieredStopAtLevel=1"]}
