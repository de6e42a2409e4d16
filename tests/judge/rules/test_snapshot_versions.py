from touchstone.judge.judgement import Severity

from ..sound import fired, sound_run


def test_a_nightly_compiler() -> None:
    run = sound_run()
    run.plan.contenders[0].tools["rustc"] = "1.99.0-nightly"
    (finding,) = fired(run, "snapshot-versions")
    assert finding.severity is Severity.NOTE
