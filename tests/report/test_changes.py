from __future__ import annotations

import io

import pytest
from rich.console import Console

from touchstone.judge.judgement import Comparison
from touchstone.report.changes import table
from touchstone.report.interval_plot import interval_plot


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


def _throughput(load: str | None, low: float, ratio: float, high: float) -> Comparison:
    return Comparison(
        phase="load", contender="service/plain", baseline="service/plain", load=load, figure="throughput",
        ratio=ratio, low=low, high=high,
    )  # fmt: skip


@pytest.mark.parametrize("load", [None, "a-load-with-a-long-name"])
def test_one_stands_above_the_ratio_one_in_the_plot_of_intervals(load: str | None) -> None:
    head, above, across, below = list(interval_plot([
        _throughput(load, 1.05, 1.1, 1.2), _throughput(load, 0.9, 1.0, 1.1), _throughput(load, 0.8, 0.9, 0.95),
    ]))[1:5]  # fmt: skip
    one = head.index("1.00") + 1
    assert above[one] == below[one] == "┊" and across[one] == "●"
    assert above.index("●") > one > below.index("●")
    assert head[one - 20 :].split() == ["0.80", "1.00", "1.25"]


def test_a_ratio_without_an_end_is_not_in_the_plot_of_intervals() -> None:
    assert (
        list(interval_plot([_throughput("items", 0.0, 0.5, 2.0), _throughput("items", 0.5, 1.0, float("inf"))])) == []
    )
