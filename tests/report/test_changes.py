from __future__ import annotations

import io

import pytest
from rich.console import Console

from touchstone.judge.judgement import Comparison
from touchstone.report.changes import table


@pytest.mark.parametrize("contenders", [True, False])
def test_a_pairs_table_spends_no_width_on_a_name_that_is_always_the_same(*, contenders: bool) -> None:
    change = Comparison(
        phase="load", contender="service/plain", baseline="service/plain", load="items", figure="cpu_per_request",
        before=12.5e-6, after=14.7e-6, ratio=1.16, low=1.11, high=1.21,
    )  # fmt: skip
    shown = io.StringIO()
    Console(file=shown, width=80).print(table([change], "base", "head", contenders=contenders))
    assert ("contender" in shown.getvalue()) is contenders
    fits = any("1.11" in line and "1.21" in line for line in shown.getvalue().splitlines())
    assert fits is not contenders
