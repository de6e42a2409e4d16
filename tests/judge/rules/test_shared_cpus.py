from touchstone.judge.judge import judge
from touchstone.judge.judgement import Severity, Verdict
from touchstone.record.sample import TARE

from ..sound import fired, loads, sound_run


def test_engine_and_server_on_one_cpu() -> None:
    run = sound_run()
    for sample in loads(run):
        sample.process.placement.engine_cpus = [0]
    (finding,) = fired(run, "shared-cpus")
    assert finding.severity is Severity.NOTE
    assert judge(run).verdict is Verdict.VALID


def test_a_tare_that_shares_is_nobodys_comparison() -> None:
    run = sound_run()
    for sample in run.samples:
        if sample.contender == TARE:
            sample.process.placement.engine_cpus = [0]
    assert not fired(run, "shared-cpus")
