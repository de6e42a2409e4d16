import pytest

from touchstone.judge.judgement import Severity
from touchstone.record.sample import CheckOutcome, Exchange

from ..sound import fired, loads, sound_run

BROKEN = CheckOutcome(
    id="load-lookup",
    says="the requests of the load lookup are answered",
    passed=False,
    broken=[Exchange(request="GET /work", expected="200", received="503")],
)


def test_work_that_is_refused_right_behind_the_first_answer() -> None:
    run = sound_run()
    next(s for s in run.samples if s.phase == "boot").checks = [BROKEN]
    (finding,) = fired(run, "ready-too-early")
    assert "503" in finding.statement


def test_what_never_held_is_no_matter_of_the_start() -> None:
    run = sound_run()
    boot = next(s for s in run.samples if s.phase == "boot")
    verified = next(s for s in run.samples if s.phase == "verify" and s.contender == boot.contender)
    boot.checks, verified.checks = [BROKEN], [BROKEN]
    assert not fired(run, "ready-too-early")


@pytest.mark.parametrize(
    ("first_s", "start_s", "told"), [(0.55, 0.01, 1), (0.45, 0.01, 0), (0.9, 1.0, 0), (1.1, 1.0, 1)]
)
def test_a_start_that_is_left_to_the_first_request(first_s: float, start_s: float, told: int) -> None:
    run = sound_run()
    boot = next(s for s in run.samples if s.phase == "boot")
    boot.figures["boot_first_response"] = start_s
    load = loads(run, boot.contender)[0].load
    boot.checks = [CheckOutcome(id=f"load-{load}", says="they are answered", passed=True, longest_s=first_s)]
    found = [f for f in fired(run, "ready-too-early") if f.contender == boot.contender]
    assert [f.severity for f in found] == [Severity.SUSPECT] * told
    if told:
        assert found[0].doubt is not None and found[0].doubt.slower == pytest.approx(1 + first_s / start_s)


def test_a_service_that_always_takes_so_long_has_started() -> None:
    run = sound_run()
    boot = next(s for s in run.samples if s.phase == "boot")
    own = loads(run, boot.contender)
    for sample in own:
        sample.figures["latency_p99"] = 0.5
    boot.checks = [CheckOutcome(id=f"load-{own[0].load}", says="they are answered", passed=True, longest_s=1.9)]
    assert not fired(run, "ready-too-early")
