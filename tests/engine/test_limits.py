"""The lab and the engine apply the same limits."""

import pytest

from tests.engine.limits import IN_ENGINE, TARGET, generated
from touchstone.vocabulary import limits


def test_the_engines_limits_are_those_of_the_lab() -> None:
    assert TARGET.read_text(encoding="utf-8") == generated(), (
        f"{TARGET.name} is old: run `python -m tests.engine.limits`"
    )


@pytest.mark.parametrize("name", IN_ENGINE)
def test_each_limit_is_written_with_its_value(name: str) -> None:
    assert f"const {name}: f64 = {getattr(limits, name)};" in generated()
