"""The house is as its map, its limits and its prose say; and each check is seen to fail on a planted breach."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tidy import first_sentence, limits, manifest_keys, plain, prose, readable, rooms, rule_tests, sample
from touchstone.judge.rules.table import RULES
from touchstone.manifest.base import ManifestModel
from touchstone.manifest.keys import ManifestTable, TablePath, tables

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src"
CODE = [path for folder in ("src", "tests", "benchmarks") for path in sorted((ROOT / folder).rglob("*.py"))]
FOUND_BY_NAME = {
    "touchstone.dependency.sqlite",
    "touchstone.dependency.echo.python_server",
    "touchstone.native_image.driver.metadata",
    "touchstone.native_image.driver.request",
    "touchstone.phase.tail.hooks.python.sitecustomize",
    "touchstone.starter.python.server",
}
"""Named in vocabulary/dependency.py; started as a program; laid into native-image's home;
imported by Python at its start; copied by `new`."""
TOO_LONG = {"tests/judge/sound.py", "tests/report/fixture.py"}
"""Since 2026-11-22: the two builders of made-up runs, which the golden runs are to replace. No file is to join them."""


WRITTEN = {
    "docs": ("*.md",),
    "src": ("*.py",),
    "tests": ("*.py", "*.md"),
    "benchmarks": ("*.py", "*.md"),
    "engine": ("*.rs",),
    "mote": ("*.h", "*.cpp", "*.md"),
    "scenarios": ("*.toml", "*.md"),
    "claims": ("*.toml",),
    "findings": ("*.sh", "*.md"),
    "packaging": ("*.py", "*.md"),
}
"""What is written for a reader, by folder."""


def written(root: Path) -> list[Path]:
    found = {path for folder, kinds in WRITTEN.items() for kind in kinds for path in (root / folder).rglob(kind)}
    below = {"target", "build", "node_modules", ".venv", "shipped"}
    own = {path for path in found if not below & set(path.relative_to(root).parts[:-1])}
    return sorted(own - set((root / "tests/tidy").iterdir()) | set(root.glob("*.md")))


def relative(complaints: list[str]) -> list[str]:
    return [complaint.replace(f"{ROOT}/", "") for complaint in complaints]


def test_rooms_import_what_the_map_allows() -> None:
    assert not rooms.breaches(SOURCE, (ROOT / "docs/architecture.md").read_text(encoding="utf-8"))


def test_files_and_functions_stay_within_their_limits() -> None:
    found = relative([*limits.long_files(CODE), *limits.long_functions(CODE)])
    assert not [complaint for complaint in found if complaint.split(":")[0] not in TOO_LONG]


def test_nothing_unfinished_is_left() -> None:
    assert not relative(limits.leftovers(path for path in CODE if path.parent.name != "tidy"))


def test_every_module_is_used() -> None:
    assert set(limits.unused_modules(SOURCE)) == FOUND_BY_NAME


def test_prose_names_what_exists() -> None:
    assert not relative(prose.breaches(ROOT, prose.pages(ROOT)))


def test_what_is_written_is_plain() -> None:
    assert not relative(plain.breaches(written(ROOT)))


def test_first_sentences_of_docstrings_are_short() -> None:
    generated = SOURCE / "touchstone/engine/protocol.py"
    paths = [path for path in SOURCE.rglob("*.py") if path != generated]
    assert not relative(first_sentence.breaches(paths))


def test_a_long_first_sentence_is_found(tmp_path: Path) -> None:
    words = [f"word{n}" for n in range(first_sentence.MOST_WORDS)]
    short, long = " ".join(words), " ".join([*words, "more"])
    source = tmp_path / "a.py"
    for docstring in (short, f"{short}. {long}.", f"{short}: {long}", f"{short}\n\n{long}", f"`{long}` {words[0]}."):
        source.write_text(f'"""{docstring}"""\n\n\nclass A:\n    """{docstring}"""\n')
        assert not first_sentence.breaches([source])
    source.write_text(
        f'"""{long}."""\n\n\nclass A:\n    """{long}; {short}."""\n\n    def b(self):\n        """{long}"""\n'
    )
    assert [one.split(":")[1] for one in first_sentence.breaches([source])] == ["1", "4", "7"]


def test_pages_are_readable() -> None:
    assert not relative(readable.breaches(path for path in prose.pages(ROOT) if path.name != "CHANGELOG.md"))


def test_every_rule_is_seen_to_fire_and_to_keep_silent() -> None:
    assert not rule_tests.breaches({code.replace("-", "_"): code for code in RULES}, ROOT / "tests/judge/rules")


def test_every_key_of_a_manifest_is_explained() -> None:
    assert not manifest_keys.breaches(tables().values())


MAP = """\
| `low/` | what all need | nothing of ours |
| `high/` | what people meet | `low` |

## The rooms of `engine/`
"""


@pytest.fixture
def house(tmp_path: Path) -> Path:
    """A small sound house."""
    for room in ("low", "high"):
        (tmp_path / "touchstone" / room).mkdir(parents=True)
        (tmp_path / "touchstone" / room / "__init__.py").touch()
    (tmp_path / "touchstone/__init__.py").touch()
    (tmp_path / "touchstone/low/stone.py").write_text("STONE = 1\n")
    (tmp_path / "touchstone/high/__main__.py").write_text("from touchstone.low.stone import STONE\n")
    return tmp_path


def test_a_sound_house_has_no_breach(house: Path) -> None:
    assert not rooms.breaches(house, MAP)
    assert not limits.unused_modules(house)


def test_an_import_against_the_map_is_found_and_so_is_the_ring(house: Path) -> None:
    (house / "touchstone/low/stone.py").write_text("def f():\n    from touchstone.high import roof\n")
    found = rooms.breaches(house, MAP)
    assert "touchstone.low.stone imports high, which the map does not allow to low" in found
    assert any(complaint.startswith("rooms in a ring: high -> low -> high") for complaint in found)


def test_a_room_that_the_map_lacks_and_one_that_it_invents_are_found(house: Path) -> None:
    (house / "touchstone/cellar").mkdir()
    (house / "touchstone/cellar/__init__.py").touch()
    found = rooms.breaches(house, "| `tower/` | a view | everything |\n" + MAP)
    assert found == ["the map has no room cellar", "the map names tower, and there is no such room"]


def test_a_module_that_nobody_imports_is_found(house: Path) -> None:
    (house / "touchstone/high/attic.py").touch()
    assert limits.unused_modules(house) == ["touchstone.high.attic"]


@pytest.mark.parametrize(("lines", "count"), [(limits.FILE_LINES, 0), (limits.FILE_LINES + 1, 1)])
def test_a_long_file_is_found(tmp_path: Path, lines: int, count: int) -> None:
    (tmp_path / "a.py").write_text("x = 1\n" * lines)
    assert len(limits.long_files([tmp_path / "a.py"])) == count


@pytest.mark.parametrize(("lines", "count"), [(limits.FUNCTION_LINES, 0), (limits.FUNCTION_LINES + 1, 1)])
def test_a_long_function_is_found(tmp_path: Path, lines: int, count: int) -> None:
    (tmp_path / "a.py").write_text("def f():\n" + "    x = 1\n" * lines)
    assert len(limits.long_functions([tmp_path / "a.py"])) == count


@pytest.mark.parametrize("word", ["TODO", "FIXME", "hack"])
def test_a_leftover_is_found(tmp_path: Path, word: str) -> None:
    (tmp_path / "a.py").write_text(f"# {word}: later\n")
    assert limits.leftovers([tmp_path / "a.py"])


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("see [there](nowhere.md)", "leads nowhere"),
        ("`touchstone dance`", "no command"),
        ("run `make noise`", "no command"),
        ("`src/touchstone/attic.py`", "no file"),
        ("give `--make-it-fast`", "no flag"),
        ("`latency_p42`", "no figure"),
    ],
)
def test_prose_that_names_nothing_is_found(tmp_path: Path, text: str, complaint: str) -> None:
    page = tmp_path / "page.md"
    page.write_text(text)
    found = prose.breaches(ROOT, [page])
    assert len(found) == 1
    assert complaint in found[0]


def test_sound_prose_is_left_alone(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("`touchstone run --quick`, `make test`, `latency_p99`, `src/touchstone/cli/main.py`, [a](page.md)")
    assert not prose.breaches(ROOT, [page])


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        ("a.md", "One.\n\nThe user is told.\n", 3),
        ("a.py", 'x = 1\nprint(f"{x} is no number")\n', 2),
        ("a.md", "One.\nTwo. Of three, four.\n", 2),
        ("a.md", "One\n* Of three, four\n", 2),
        ("a.py", '"""Sums.\n\nWhoever calls."""\n', 3),
        ("a.py", 'x = 1\nprint(f"{x} so many times")\n', 2),
        ("a.py", "x = 1  # made anew\n", 1),
        ("a.py", "# a file, so\n# much as it is\n", 1),
        ("a.rs", "/// As ever.\n", 1),
        ("a.rs", 'fn f() { panic!("that is what it does") }', 1),
        ("a.h", "int a;\n// It comes to two.\n", 2),
        ("a.toml", 'a = 1\nsays = "a stranger in the room"\n', 2),
        ("a.sh", "# Lent to it.\n", 1),
    ],
)
def test_prose_that_is_not_plain_is_found(tmp_path: Path, name: str, text: str, line: int) -> None:
    (tmp_path / name).write_text(text)
    (found,) = plain.breaches([tmp_path / name])
    assert found.startswith(f"{tmp_path / name}:{line}: ")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.md", "`told`, and\n\n    anew = told\n\n```\nso many\n```\n\nOf course. A list of files.\n"),
        ("a.py", "told = anew()\n"),
        ("a.md", "There is no limit. It is no longer held, and is no better.\n"),
        ("a.rs", "fn told() { anew() }\n"),
        ("a.toml", "told = 1\n"),
    ],
)
def test_code_and_plain_prose_are_left_alone(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    assert not plain.breaches([tmp_path / name])


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (f"First.\n\n{'word ' * (readable.SENTENCE_WORDS + 1)}.\n", ":3: a sentence of 46 words"),
        ("First.\nThis is very good.\n", "very"),
        ("First.\nIn actual fact, each and every one.\n", "redundancy"),
    ],
)
def test_a_page_that_is_hard_to_read_is_found(tmp_path: Path, text: str, complaint: str) -> None:
    (tmp_path / "page.md").write_text(text)
    found = readable.breaches([tmp_path / "page.md"])
    assert found
    assert any(complaint in line for line in found)


def test_sentences_are_drawn_from_pages_docstrings_and_messages(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "src").mkdir()
    (tmp_path / "README.md").write_text("# Head\n\nA page has a sentence. Too short.\n")
    (tmp_path / "src/a.py").write_text('"""A docstring has one as well."""\nX = f"{1} and a message has another"\n')
    drawn = sample.draw(tmp_path, seed=1)
    assert len(drawn) == sample.COUNT
    assert set(drawn) == {
        "page: A page has a sentence.",
        "docstring: A docstring has one as well.",
        "message: and a message has another",
    }


def test_a_page_of_short_sentences_is_readable(tmp_path: Path) -> None:
    (tmp_path / "page.md").write_text(f"# A page\n\n{'word ' * readable.SENTENCE_WORDS}.\n\n| a | b |\n|---|---|\n")
    assert not readable.breaches([tmp_path / "page.md"])


def test_a_rule_without_its_two_tests_is_found(tmp_path: Path) -> None:
    (tmp_path / "test_one.py").write_text(
        'def test_it() -> None:\n    assert fired(run, "is-one")\n    assert not error\n'
    )
    found = rule_tests.breaches({"one": "is-one", "two": "is-two"}, tmp_path)
    assert found == [
        "one: no test sees is-one keep silent",
        *(f"two: no test sees is-two {what}" for what in ("fire", "keep silent")),
    ]


def test_a_key_without_an_explanation_is_found() -> None:
    class Teapot(ManifestModel):
        """A pot."""

        tea: str
        """What is in it."""
        spout: int = 1

    found = manifest_keys.breaches([ManifestTable(Teapot, (TablePath("teapot.toml"),))])
    assert found == [f"{__name__}.Teapot: the key spout has no docstring"]


@pytest.mark.parametrize(
    ("line", "lacks"),
    [
        ('(finding,) = fired(run, "a-b")', "keep silent"),
        ('assert "a-b" in codes(run)', "keep silent"),
        ('assert codes(run) == {"a-b"}', "keep silent"),
        ('assert not fired(run, "a-b")', "fire"),
        ('assert "a-b" not in codes(run)', "fire"),
        ("assert codes(run) == set()", "fire"),
        ("assert not found(run)", "fire"),
        ("assert found(run) == []", "fire"),
        ("assert len(found(run)) == 2", "keep silent"),
        ("assert CODE not in codes(run)", "fire"),
        ("(finding,) = fired(run, CODE)", "keep silent"),
    ],
)
def test_a_rules_own_code_is_what_its_tests_must_ask_for(tmp_path: Path, line: str, lacks: str) -> None:
    helper = 'def found(run):\n    return list(fired(run, "a-b"))\n\n\ndef other():\n    assert not fired(run, "c")\n'
    text = f'CODE = "a-b"\n\n\n{helper}    (one,) = fired(run, "c")\n    {line}\n'
    (tmp_path / "test_one.py").write_text(text)
    assert rule_tests.breaches({"one": "a-b"}, tmp_path) == [f"one: no test sees a-b {lacks}"]
