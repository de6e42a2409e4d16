from touchstone.judge.judgement import Severity

from ..sound import fired, sound_run


def test_a_nightly_compiler() -> None:
    run = sound_run()
    run.plan.contenders[0].tools["rustc"] = "1.99.0-nightly"
    (finding,) = fired(run, "snapshot-versions")
    assert finding.severity is Severity.NOTE


def test_a_release_with_letters() -> None:
    run = sound_run()
    run.plan.contenders[0].tools["java"] = "25.0.1 (Debian)"
    assert not fired(run, "snapshot-versions")
