"""Whatever lies in a service's folder, a draft is written whole, or refused in a sentence, and nothing is left."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.cli.test_commands import touchstone
from tests.intake.services import GO, MAIN_GO, drafted, lay
from touchstone.failure import TouchstoneError
from touchstone.intake.service.drafting import draft_service, write_stack
from touchstone.manifest.reader import read_manifest
from touchstone.manifest.stack import Stack

WORDS = st.sampled_from(
    [
        "name",
        "scripts",
        "start",
        "build",
        "dependencies",
        "project",
        "tool",
        "poetry",
        "uv",
        "workspace",
        "members",
        "path",
        "package",
        "bin",
        "web",
        "services",
        "image",
        "command",
        "ports",
        "env",
        "x",
        "",
        "a\nb",
        "\x00",
        "é",
        "node a.js",
        "gunicorn $X:app --bind unix:",
        "[",
        "{port}",
        "::",
        "../..",
        "/",
        "*",
        "**",
        "!",
        "8080",
        "-b",
        "&&",
        "'",
    ]
)
HELD = st.recursive(
    st.none() | st.booleans() | st.integers(-1, 99999) | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=4),
    max_leaves=12,
)
LINES = st.lists(st.lists(WORDS, max_size=6).map(" ".join), max_size=6).map("\n".join)
JSON_FILES = (
    "package.json",
    "app.json",
    "railway.json",
    "Pipfile.lock",
    "deno.json",
    "tsconfig.json",
    "compose.yaml",
    "fly.json",
    "render.yaml",
    "k8s/a.yaml",
    "charts/values.yaml",
    "pnpm-workspace.yaml",
    "heroku.yml",
    "app.yaml",
)
TEXT_FILES = (
    "Procfile",
    "Dockerfile",
    "requirements.txt",
    "go.mod",
    "main.go",
    "setup.py",
    "setup.cfg",
    "build.gradle",
    "settings.gradle",
    "CMakeLists.txt",
    ".gitmodules",
    "a.service",
    "pom.xml",
    "main.py",
    "e.sh",
    ".env.example",
)
DOCKER = st.lists(
    st.tuples(
        st.sampled_from(["FROM", "CMD", "ENTRYPOINT", "ENV", "EXPOSE", "RUN", "ARG", "WORKDIR"]),
        WORDS | HELD.map(json.dumps),
    ),
    max_size=8,
).map(lambda lines: "\n".join(f"{name} {said}" for name, said in lines))


def toml_of(held: object) -> str:
    """JSON's texts, numbers and lists are TOML's, too."""
    if not isinstance(held, dict):
        return ""
    return "".join(f"{json.dumps(k)} = {_toml_value(v)}\n" for k, v in held.items())


def _toml_value(held: object) -> str:
    if isinstance(held, dict):
        return "{" + ", ".join(f"{json.dumps(k)} = {_toml_value(v)}" for k, v in held.items()) + "}"
    if isinstance(held, list):
        return "[" + ", ".join(map(_toml_value, held)) + "]"
    return '""' if held is None else json.dumps(held)


FILES = st.fixed_dictionaries(
    {},
    optional={
        **{name: HELD.map(json.dumps) for name in JSON_FILES},
        **{
            name: HELD.map(toml_of)
            for name in ("pyproject.toml", "Cargo.toml", "Pipfile", "fly.toml", "uv.lock", "poetry.lock")
        },
        **dict.fromkeys(TEXT_FILES, LINES),
        "Dockerfile": DOCKER,
    },
)


def known(held: dict[str, Any]) -> str:
    """Tables under the keys that are read."""
    return "\n".join(f"[{name}]\n{toml_of(one)}" for name, one in held.items())


SHAPED = st.fixed_dictionaries(
    {},
    optional={
        "package.json": st.fixed_dictionaries(
            {},
            optional=dict.fromkeys(("name", "main", "workspaces", "scripts", "dependencies", "devDependencies"), HELD),
        ).map(json.dumps),
        "pyproject.toml": st.fixed_dictionaries(
            {},
            optional=dict.fromkeys(("project", "build-system", "tool.poetry", "tool.uv", "dependency-groups"), HELD),
        ).map(known),
        "Cargo.toml": st.fixed_dictionaries({}, optional=dict.fromkeys(("package", "workspace"), HELD)).map(known),
        "compose.yaml": st.fixed_dictionaries({"services": st.dictionaries(WORDS, HELD, max_size=3)}).map(json.dumps),
        "app.json": st.fixed_dictionaries({"env": HELD}).map(json.dumps),
    },
)


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.one_of(FILES, SHAPED), st.sampled_from(["", "app = Flask(__name__)\n", "import os\nos.environ['\x00']"]))
def test_a_draft_is_a_stack_or_a_refusal(files: dict[str, str], code: str) -> None:
    with tempfile.TemporaryDirectory() as made:
        service = lay(Path(made) / "service", {"app.py": code, **files})
        home = Path(made) / "service/bench/service"
        try:
            drafted_stack = draft_service(service)
        except TouchstoneError as error:
            assert error.fix
            return
        write_stack(drafted_stack, service, home, scenario="bench")
        try:
            read_manifest(home / "stack.toml", Stack)
        except TouchstoneError as error:
            # A draft is refused for its content, and not for being no TOML.
            assert "TOML" not in str(error)


@pytest.mark.parametrize(
    ("name", "held"),
    [
        ("requirements.txt", "gunicorn\n".encode("utf-16")),
        ("package.json", b"\xef\xbb\xbf" + b'{"scripts": {"start": "node a.js"}}'),
    ],
)
def test_a_byte_order_mark_is_read(tmp_path: Path, name: str, held: bytes) -> None:
    lay(tmp_path, {"a.js": ""})
    (tmp_path / name).write_bytes(held)
    assert drafted(tmp_path, {"app.py": "app = Flask(__name__)\n"} if name.endswith("txt") else {}).language


def test_files_that_cannot_be_read_as_sources_spoil_nothing(tmp_path: Path) -> None:
    lay(tmp_path, GO | {"main.go": MAIN_GO})
    (tmp_path / "latin.go").write_bytes(b'package main // \xe9\nvar a = os.Getenv("HTTP_PORT")')
    (tmp_path / "gone.go").symlink_to(tmp_path / "nowhere")
    (tmp_path / "folder.go").mkdir()
    os.mkfifo(tmp_path / "pipe.go")
    assert drafted(tmp_path, {}).variants["plain"].env == {"HTTP_PORT": "{port}"}


def test_a_file_that_is_no_json_is_named_and_nothing_is_written(tmp_path: Path) -> None:
    done = touchstone(lay(tmp_path, {"package.json": "{"}), "new", "bench", "--service", ".")
    assert (done.returncode, (tmp_path / "bench").exists()) == (2, False)
    assert "package.json" in done.stderr


def test_a_draft_that_cannot_be_read_back_leaves_nothing(tmp_path: Path) -> None:
    """The scenario is written before the stack: neither stays without the other."""
    broken = GO | {"main.go": MAIN_GO, "bench/other/stack.toml": "no TOML ["}
    done = touchstone(lay(tmp_path, broken), "new", "bench", "--service", ".")
    assert done.returncode != 0
    assert sorted(str(path.relative_to(tmp_path / "bench")) for path in (tmp_path / "bench").rglob("*")) == [
        "other",
        "other/stack.toml",
    ]


def test_marks_are_shown_as_they_are_written(tmp_path: Path) -> None:
    lay(tmp_path, GO | {"main.go": MAIN_GO, "cmd/x\ny/main.go": MAIN_GO})
    done = touchstone(tmp_path, "new", "bench", "--service", ".")
    written = (tmp_path / "bench/service/stack.toml").read_text()
    marks = [line.removeprefix("# look: ") for line in written.splitlines() if line.startswith("# look: ")]
    assert marks
    assert all(f"  look: {mark}\n" in done.stdout for mark in marks)


def test_a_draft_without_a_mark_says_nothing_of_marks(tmp_path: Path) -> None:
    listens = 'package main\n\nimport "github.com/gin-gonic/gin"\n\nfunc main() { gin.Default().Run() }\n'
    done = touchstone(lay(tmp_path, GO | {"main.go": listens}), "new", "bench", "--service", ".")
    assert done.returncode == 0, done.stderr
    assert "# look: " not in (tmp_path / "bench/service/stack.toml").read_text()
    assert "# look:" not in done.stdout
