from touchstone.judge.judgement import Severity

from ..sound import fired, sound_run, tares


def test_a_run_without_tares() -> None:
    run = sound_run()
    run.samples = [s for s in run.samples if s not in tares(run)]
    (finding,) = fired(run, "tare-missing")
    assert (finding.load, finding.severity) == ("lookup", Severity.NOTE)


def test_one_tare_is_enough_to_have_one() -> None:
    run = sound_run()
    first = tares(run)[0]
    run.samples = [s for s in run.samples if s is first or s not in tares(run)]
    assert not fired(run, "tare-missing")
