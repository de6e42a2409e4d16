from touchstone.judge.judgement import Severity

from ..sound import fired, sound_run


def test_an_answer_before_the_port_is_open() -> None:
    run = sound_run()
    boot = next(s.boot for s in run.samples if s.boot)
    boot.runs[0].port_open_s = 1.0
    (finding,) = fired(run, "boot-impossible")
    assert finding.severity is Severity.INVALID


def test_a_part_larger_than_the_whole() -> None:
    run = sound_run()
    boot = next(s.boot for s in run.samples if s.boot)
    boot.runs[3].anon = 2 * (boot.runs[3].rss or 0)
    assert any("larger than RSS" in f.statement for f in fired(run, "boot-impossible"))


def test_a_part_as_large_as_the_whole_within_the_tolerance() -> None:
    run = sound_run()
    boot = next(s.boot for s in run.samples if s.boot)
    boot.runs[3].anon = int(1.05 * (boot.runs[3].rss or 0))
    assert not fired(run, "boot-impossible")
