from touchstone.judge.judge import judge
from touchstone.judge.judgement import Severity, Verdict

from ..peaks import peak_run, peak_sample, rates
from ..sound import fired

SETTLED = rates((5, 4000), (25, 9000))
RISING = rates((20, 4000), (6, 7000), (4, 9000))


def test_one_round_that_still_rises_is_suspect() -> None:
    starts = [peak_sample("kotlin/jvm", r, RISING if r == 2 else SETTLED) for r in range(1, 6)]
    (finding,) = fired(peak_run({"kotlin/jvm": starts}), "peak-not-reached")
    assert finding.severity is Severity.SUSPECT
    assert finding.evidence["samples"] == ["peak-kotlin/jvm-2"]


def test_all_rounds_that_still_rise_leave_no_time_to_peak() -> None:
    judgement = judge(peak_run({"kotlin/jvm": [peak_sample("kotlin/jvm", r, RISING) for r in range(1, 6)]}))
    (finding,) = [f for f in judgement.findings if f.code == "peak-not-reached"]
    assert finding.severity is Severity.INVALID
    time = next(e for e in judgement.estimates if e.figure == "peak_time")
    assert (time.median, time.verdict) == (None, Verdict.INVALID)
    assert "no peak was reached within 30 s" in (time.reason or "")
    served = next(e for e in judgement.estimates if e.figure == "peak_served")
    assert served.verdict is Verdict.VALID


def test_a_start_that_settles_in_every_round_is_none() -> None:
    starts = [peak_sample("kotlin/jvm", r, SETTLED) for r in range(1, 6)]
    assert not fired(peak_run({"kotlin/jvm": starts}), "peak-not-reached")
