from collections.abc import Mapping

import pytest

from touchstone.judge.judgement import Severity
from touchstone.record.run import Run

from ..sound import codes, fired, loads, sound_run

UNIQUE = "unique index (name)"


def _run(structures: Mapping[str, Mapping[str, list[str]]]) -> Run:
    run = sound_run()
    for contender in ("go/std", "rust/std", "kotlin/jvm"):
        for sample in loads(run, contender):
            structure = structures.get(contender, structures["*"])
            sample.dependencies[0].structure = {table: list(parts) for table, parts in structure.items()}
    return run


@pytest.mark.parametrize("own", [[UNIQUE, "index (age)"], [], [UNIQUE, "not logged"]])
def test_a_table_that_differs_for_one_contender(own: list[str]) -> None:
    (finding,) = fired(_run({"*": {"users": [UNIQUE]}, "go/std": {"users": own}}), "tables-unequal")
    assert (finding.contender, finding.severity) == ("go/std", Severity.SUSPECT)
    assert "table users" in finding.statement


def test_equal_tables_and_tables_of_a_framework_are_nothing() -> None:
    same = {"users": [UNIQUE]}
    assert "tables-unequal" not in codes(_run({"*": same}))
    assert "tables-unequal" not in codes(_run({"*": same, "go/std": same | {"migrations": ["unique index (id)"]}}))
