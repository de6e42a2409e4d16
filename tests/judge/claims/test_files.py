"""The lab's own claims files are sound, and a wrong file says what is wrong where."""

from __future__ import annotations

from pathlib import Path

import pytest

from touchstone.failure import UsageError
from touchstone.judge.claims.check import complaints, terms
from touchstone.manifest.claims_folder import claims_in, find_claims, read_claims
from touchstone.manifest.reader import ManifestError

FOLDER = Path(__file__).parents[3] / "claims"

SOUND = """
schema = 1
name = "mine"
title = "Mine"
summary = "My service"
scenario = "demo"
own = true
[[claims]]
id = "M1"
says = "It is quick."
figure = "latency_p99"
load = "ping"
test = { kind = "value", of = ["one/plain"], at_most = 20.0, unit = "ms" }
published = [{ what = "promise", value = 20.0, unit = "ms" }]
"""


@pytest.mark.parametrize("path", claims_in(FOLDER), ids=lambda path: path.stem)
def test_every_file_of_the_lab_is_sound(path: Path) -> None:
    assert complaints(read_claims(path)) == []


def test_the_four_articles_are_encoded_whole() -> None:
    counted = {file.letter: len(file.claims) for _, file in find_claims(None, FOLDER)}
    assert counted == {"A": 25, "B": 24, "C": 28, "D": 12}
    for _, file in find_claims(None, FOLDER):
        assert [c.id for c in file.claims] == [f"{file.letter}{n:02d}" for n in range(1, len(file.claims) + 1)]


def test_every_statement_says_how_it_is_tested_or_why_not() -> None:
    claims = [claim for _, file in find_claims(None, FOLDER) for claim in file.claims]
    assert sum(claim.test is not None for claim in claims) >= 80
    for claim in claims:
        if claim.test is not None:
            assert terms(claim.test)


def test_a_file_is_found_by_name_letter_and_path() -> None:
    by_path = find_claims(str(FOLDER / "a-users.toml"), FOLDER)[0][1]
    assert find_claims("A", FOLDER)[0][1] == find_claims("a-users", FOLDER)[0][1] == by_path
    with pytest.raises(UsageError, match="did you mean 'c-crud'"):
        find_claims("c-crudd", FOLDER)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (('id = "M1"', 'id = "M1"\nsay = "x"'), ["claims[M1]", "say", "did you mean 'says'"]),
        (('kind = "value"', 'kind = "valu"'), ["claims[M1].test", "valu", "value"]),
        (("at_most = 20.0, ", ""), ["claims[M1]", "no bound"]),
        (("at_most = 20.0", "at_most = 20.0, at_least = 30.0"), ["nothing could hold"]),
        (('unit = "ms" }\npub', 'unit = "mss" }\npub'), ["unit", "mss"]),
        (('["one/plain"]', '["one"]'), ["contender", "one"]),
        (("at_most = 20.0", "at_mst = 20.0"), ["at_mst", "did you mean 'at_most'"]),
        (('test = {', 'tests = {'), ["tests", "did you mean 'test'"]),
        (('scenario = "demo"\n', ""), ["scenario", "missing", "see claims.toml", "check --keys claims.toml"]),
        (('unit = "ms" }\npub', 'unit = 3 }\npub'), ["key 'claims[M1].test.unit'", "see [claims.test]"]),
    ],
)  # fmt: skip
def test_a_wrong_file_names_claim_key_and_fix(tmp_path: Path, change: tuple[str, str], said: list[str]) -> None:
    path = tmp_path / "mine.toml"
    assert change[0] in SOUND
    path.write_text(SOUND.replace(*change, 1))
    with pytest.raises(ManifestError) as caught:
        read_claims(path)
    message = str(caught.value)
    for part in ["mine.toml", "in docs/manifests.md", *said]:
        assert part in message


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("latency_p99", "latency_p98"), "did you mean 'latency_p9"),
        (('unit = "ms" }\npub', 'unit = "MB" }\npub'), "is measured in 's'"),
        (('load = "ping"\n', ""), "name it by `load`"),
        (('figure = "latency_p99"\n', ""), "has no figure"),
        (('load = "ping"', 'load = "ping"\nphase = "boot"'), "is measured in 'load'"),
        (('load = "ping"', 'load = "ping"\nadmits = ["timeout"]'), "did you mean 'timeouts'"),
    ],
)
def test_claims_that_do_not_fit_the_lab_are_told(tmp_path: Path, change: tuple[str, str], said: str) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(SOUND.replace(*change, 1))
    assert any(said in text for text in complaints(read_claims(path)))
