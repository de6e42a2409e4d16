"""The JSON Schemas of manifests refuse what the reader and the check refuse, as far as a schema can."""

from __future__ import annotations

import json
import random
import subprocess
import sysconfig
import tomllib
from collections.abc import Iterator
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from pydantic import ValidationError

from tests.check.broken_manifests import BASES, NOT_SHOWN, SHOWN
from tests.command import touchstone
from touchstone.check.folder import check_folder
from touchstone.check.mix import read_mix
from touchstone.check.schema.document import MANIFESTS, export_schemas, schema, schema_text
from touchstone.failure import TouchstoneError
from touchstone.intake.toml import value
from touchstone.manifest.catalogue import read_scenario_folder
from touchstone.manifest.claims_folder import read_claims
from touchstone.manifest.keys import FILES

ROOT = Path(__file__).resolve().parents[2]
GOOD = [
    *(("scenario", path) for path in sorted(ROOT.glob("scenarios/*/scenario.toml"))),
    *(("stack", path) for path in sorted(ROOT.glob("scenarios/*/*/stack.toml"))),
    *(("stack", path) for path in sorted(ROOT.glob("src/touchstone/starter/*/stack.toml"))),
    *(("claims", path) for path in sorted(ROOT.glob("claims/*.toml"))),
]
OF_A_STARTER = {"@NAME@": "one", "@SCENARIO@": "demo"}


@cache
def validator(kind: str) -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator(schema(kind))


def shown(kind: str, text: str) -> list[str]:
    """What the schema says of a text."""
    return [error.message for error in validator(kind).iter_errors(tomllib.loads(text))]


def refused(folder: Path, kind: str, text: str) -> str | None:
    """What the reader and the check say of a text of this kind; the first of it."""
    folder = folder / "demo"
    (folder / "one").mkdir(parents=True, exist_ok=True)
    (folder / "one" / "server.py").touch()
    files = {"scenario": "scenario.toml", "stack": "one/stack.toml", "claims": "claims.toml", "mix": "mix.toml"}
    for name, base in BASES.items():
        (folder / files[name]).write_text(text if name == kind else base, encoding="utf-8")
    try:
        if kind == "claims":
            read_claims(folder / files[kind])
        elif kind == "mix":
            read_mix(folder / files[kind])
        else:
            found = [problem for problem in check_folder(read_scenario_folder(folder)) if not problem.of_environment]
            return str(found[0]) if found else None
    except TouchstoneError as error:
        return str(error)
    return None


@pytest.mark.parametrize("kind", MANIFESTS)
def test_the_published_schema_is_current(kind: str) -> None:
    hint = "docs/schema is old: run `python -m touchstone.check.schema.document docs/schema`"
    assert (ROOT / "docs" / "schema" / f"{kind}.json").read_text(encoding="utf-8") == schema_text(kind), hint


def test_schemas_are_valid_schemas(tmp_path: Path) -> None:
    export_schemas(tmp_path)
    for path in tmp_path.iterdir():
        jsonschema.Draft202012Validator.check_schema(json.loads(path.read_text(encoding="utf-8")))


@pytest.mark.parametrize(("kind", "path"), GOOD, ids=lambda value: str(value).removeprefix(f"{ROOT}/"))
def test_every_manifest_of_the_lab_fits_its_schema(kind: str, path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    for word, name in OF_A_STARTER.items():
        text = text.replace(word, name)
    assert shown(kind, text) == []


@pytest.mark.parametrize("kind", BASES)
def test_the_bases_of_the_broken_manifests_are_sound(tmp_path: Path, kind: str) -> None:
    assert refused(tmp_path, kind, BASES[kind]) is None
    assert shown(kind, BASES[kind]) == []


@pytest.mark.parametrize(("kind", "place", "broken"), SHOWN)
def test_an_error_that_a_schema_can_express_is_in_it(tmp_path: Path, kind: str, place: str, broken: str) -> None:
    assert place in BASES[kind]
    text = BASES[kind].replace(place, broken, 1)
    assert refused(tmp_path, kind, text), "the reader takes it"
    assert shown(kind, text), "the schema takes it"


@pytest.mark.parametrize(("kind", "place", "broken"), NOT_SHOWN)
def test_an_error_that_no_schema_can_express_is_the_readers(tmp_path: Path, kind: str, place: str, broken: str) -> None:
    assert place in BASES[kind]
    text = BASES[kind].replace(place, broken, 1)
    assert refused(tmp_path, kind, text)
    assert shown(kind, text) == []


OTHERS: list[Any] = [0, -1, 1.5, "", "x", "A b", "{nothing}", "{{", "200", [], {}, True, [1], ["x"], {"a": 1}, 70_000]
BEYOND_A_SCHEMA = (
    *("not a variant of this stack", "none of the loads", "no closed loop", "stand twice", "to its `artifacts`"),
    *("not below `to_mb`", "above `repeat`", "is above `at_most`", "cannot be read", "an image, which nothing"),
    *("unit of bytes", "journeys, and a stop", "valid integer"),
)
"""Errors of the reader about two places of a file, about other files, and about 1.0 as a whole number."""


def places(node: Any, above: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    held = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, below in held:
        yield (*above, key)
        yield from places(below, (*above, key))


def changed(document: dict[str, Any], draw: random.Random) -> dict[str, Any]:
    """The document with something in it replaced, removed or put in."""
    document = deepcopy(document)
    *path, last = draw.choice(list(places(document)))
    node: Any = document
    for key in path:
        node = node[key]
    how = draw.random()
    if how < 0.2:
        del node[last]
    elif how < 0.3 and isinstance(node[last], dict):
        node[last][draw.choice(["expect", "tls", "rate", "rows", "image", "base", "port", "test", "unit"])] = "x"
    else:
        node[last] = deepcopy(draw.choice(OTHERS))
    return document


@pytest.mark.parametrize("seed", range(8))
def test_whatever_the_reader_refuses_by_one_place_the_schema_refuses(seed: int) -> None:
    draw = random.Random(seed)
    for _ in range(40):
        kind, path = draw.choice(GOOD)
        document = changed(tomllib.loads(path.read_text(encoding="utf-8")), draw)
        try:
            FILES[MANIFESTS[kind]].model_validate(document, context={"folder": path.parent})
        except ValidationError as error:
            said = [one["msg"] for one in error.errors()]
            beyond = all(any(words in one for words in BEYOND_A_SCHEMA) for one in said)
            assert beyond or not validator(kind).is_valid(document), (path, said)


@pytest.mark.parametrize("kind", BASES)
def test_whatever_the_schema_refuses_the_reader_or_the_check_refuses(tmp_path: Path, kind: str) -> None:
    draw = random.Random(kind)
    for _ in range(60):
        document = changed(tomllib.loads(BASES[kind]), draw)
        text = "\n".join(f"{key} = {value(held)}" for key, held in document.items())
        assert validator(kind).is_valid(document) or refused(tmp_path, kind, text), text


def test_taplo_reads_the_schema_that_new_names(tmp_path: Path) -> None:
    """Taplo is the reader of Even Better TOML: a drafted scenario is sound to it, and a wrong key is not."""
    assert touchstone("new", "bench", cwd=tmp_path).returncode == 0
    manifests = [tmp_path / "bench" / "scenario.toml", tmp_path / "bench" / "python" / "stack.toml"]
    assert taplo(*manifests).returncode == 0
    for manifest in manifests:
        sound = manifest.read_text(encoding="utf-8")
        manifest.write_text(sound.replace("title =", "titel =", 1), encoding="utf-8")
        found = taplo(manifest)
        assert found.returncode != 0
        assert "titel" in found.stderr
        manifest.write_text(sound, encoding="utf-8")


def taplo(*manifests: Path) -> subprocess.CompletedProcess[str]:
    command = Path(sysconfig.get_path("scripts")) / "taplo"
    words = [str(command), "check", *map(str, manifests)]
    return subprocess.run(words, cwd=manifests[0].parent, capture_output=True, text=True, timeout=60, check=False)


def test_schemas_are_written_where_asked(tmp_path: Path) -> None:
    written = touchstone("schema", "bench", cwd=tmp_path)
    assert written.returncode != 0
    assert "there is no such folder" in written.stderr
    (tmp_path / "bench").mkdir()
    assert touchstone("schema", "bench", cwd=tmp_path).returncode == 0
    assert {path.name for path in (tmp_path / "bench" / ".schema").iterdir()} == {f"{kind}.json" for kind in MANIFESTS}
