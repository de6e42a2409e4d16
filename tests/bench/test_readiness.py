"""What a service is asked of the loads before anything is timed."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from touchstone.bench.readiness import ask_first
from touchstone.contract.checker import ContractChecker
from touchstone.manifest.load import Load


class Asked:
    """Notes which checks it is to carry out."""

    def __init__(self) -> None:
        self.ids: list[str] = []

    def check(self, check: Any, *, cookies: bool) -> None:
        """Note one."""
        self.ids.append(check.id)


def load(target: str) -> Load:
    return Load.model_validate(
        {"title": "x", "connections": 1, "requests": [{"name": "x", "target": target, "expect": {"status": 200}}]}
    )


@pytest.mark.parametrize(("outlives", "asked"), [(False, ["load-reads", "load-adds"]), (True, ["load-reads"])])
def test_a_service_that_outlives_the_run_is_not_sent_the_loads_new_names(outlives: bool, asked: list[str]) -> None:
    bench = SimpleNamespace(loads={"reads": load("/items/{key:1..9}"), "adds": load("/add?name={fresh}")})
    seen = Asked()
    ask_first(cast(ContractChecker, seen), cast(Any, bench), outlives=outlives)
    assert seen.ids == asked
