"""Which checks are made inside a load."""

import pytest

from touchstone.contract.within_load import checks_within_load
from touchstone.manifest.contract import Check

FRESH: dict[str, object] = {"target": "/add?name={fresh}"}
ROW: dict[str, object] = {"says": "it is there", "dependency": "db", "equals": 1}


def check(*steps: dict[str, object], proofs: tuple[dict[str, object], ...] = ()) -> Check:
    return Check.model_validate({"id": "a", "says": "it does", "steps": list(steps), "proofs": list(proofs)})


@pytest.mark.parametrize(
    "steps",
    [
        ({"target": "/ping"},),
        (FRESH, {"target": "/find?name={fresh}"}),
        ({"target": "/add", "method": "POST", "body": "{fresh}"},),
        ({"target": "/add", "method": "POST", "body": "none", "expect": {"status": 400}},),
        ({"target": "/new?{fresh}", "captures": {"id": {"json": "/id"}}}, {"target": "/{capture.id}", "method": "PUT"}),
        (FRESH, {"dependency": "db", "act": "execute", "with": {"sql": "DELETE FROM t WHERE name = '{fresh}'"}}),
        ({"target": "/ping", "repeat": 20, "concurrent": 5}, {"wait_s": 0.1}),
    ],
)
def test_a_check_that_touches_only_what_it_made_is_made(steps: tuple[dict[str, object], ...]) -> None:
    assert len(checks_within_load([check(*steps)])) == 1


@pytest.mark.parametrize(
    "steps",
    [
        ({"target": "/add", "method": "POST", "body": "alice"},),
        ({"target": "/items/1", "method": "DELETE"},),
        ({"target": "/count/{counter}", "method": "PUT"},),
        (FRESH, {"dependency": "db", "act": "execute", "with": {"sql": "DELETE FROM t"}}),
        (FRESH, {"dependency": "db", "act": "stop"}, FRESH),
        ({"target": "/ping", "repeat": 21},),
        ({"target": "/ping"}, {"wait_s": 5}),
    ],
)
def test_a_check_that_disturbs_the_load_or_cannot_be_made_again_is_not(steps: tuple[dict[str, object], ...]) -> None:
    assert checks_within_load([check(*steps)]) == []


def test_a_proof_that_counts_everybodys_work_is_left_out() -> None:
    own = ROW | {"query": "SELECT count(*) FROM t WHERE name = '{fresh}'"}
    everybodys = ROW | {"query": "SELECT count(*) FROM t", "equals": "ok"}
    (made,) = checks_within_load([check(FRESH, proofs=(own, everybodys))])
    assert [proof.query for proof in made.proofs] == [own["query"]]
