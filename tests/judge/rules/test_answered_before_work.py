import pytest

from touchstone.record.run import Run
from touchstone.record.sample import AfterAnswers, DependencyState

from ..sound import codes, fired, first_load, sound_run


def seen(asked: int, late: int) -> Run:
    run = sound_run()
    after = AfterAnswers(asked=asked, late=late)
    first_load(run).dependencies = [DependencyState(name="database", kind="sqlite", after_answers=after)]
    return run


@pytest.mark.parametrize("asked,late", [(12, 6), (6, 6)])
def test_work_that_comes_after_its_response(asked: int, late: int) -> None:
    (finding,) = fired(seen(asked, late), "answered-before-work")
    assert f"{late} of {asked} responses" in finding.statement


@pytest.mark.parametrize("asked,late", [(12, 5), (5, 5), (0, 0)], ids=["now and then", "too few", "no work"])
def test_little_or_no_work_after_responses(asked: int, late: int) -> None:
    assert codes(seen(asked, late)) == set()
