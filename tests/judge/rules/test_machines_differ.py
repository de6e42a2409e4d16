from touchstone.record.run import Run
from touchstone.record.sample import TARE

from ..sound import fired, sound_run


def on_two_machines(factor: float) -> Run:
    """Odd rounds on one machine, even ones on another; there all but the first stack are `factor` times as fast."""
    run = sound_run()
    assert run.plan.baseline == "go"
    for sample in run.samples:
        if sample.phase == "load" and sample.round is not None:
            sample.process.placement.machine = "one" if sample.round % 2 else "two"
            if sample.process.placement.machine == "two" and sample.contender not in (TARE, "go/std"):
                sample.figures["throughput"] *= factor
    return run


def test_a_ratio_that_is_another_on_the_other_machine_is_told() -> None:
    found = fired(on_two_machines(1.3), "machines-differ")
    assert found and all("on one" in finding.statement and "on two" in finding.statement for finding in found)


def test_a_baseline_may_be_named_in_full() -> None:
    found = fired(on_two_machines(1.3).against("rust/std"), "machines-differ")
    assert {finding.evidence["contender"] for finding in found} == {"go/std"}
    assert all("relative to rust/std" in finding.statement for finding in found)


def test_machines_that_agree_are_silent() -> None:
    assert not fired(on_two_machines(1.0), "machines-differ")
