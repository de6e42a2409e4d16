from touchstone.record.sample import CheckOutcome, Exchange

from ..sound import fired, sound_run

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
