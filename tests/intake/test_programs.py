"""Which program of a compiled service is built, and what lies next to it when it is started."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.intake import test_workspace as workspace
from tests.intake.services import GO, MAIN_GO, RUST, drafted


@pytest.mark.parametrize(
    ("files", "built"),
    [
        ({"cmd/migrate/main.go": MAIN_GO, "cmd/server/main.go": MAIN_GO}, "./cmd/server"),
        ({"cmd/api/main.go": MAIN_GO, "cmd/worker/main.go": MAIN_GO + "r.Run()"}, "./cmd/worker"),
        ({"cmd/a/main.go": MAIN_GO, "cmd/x/main.go": MAIN_GO}, "./cmd/x"),
        ({"cmd/a/main.go": MAIN_GO, "main.go": MAIN_GO}, "."),
    ],
)
def test_of_several_programs_the_one_is_built_that_listens_or_is_called_so(
    tmp_path: Path, files: dict[str, str], built: str
) -> None:
    assert drafted(tmp_path, GO | files).variants["plain"].build[0][-1] == built


@pytest.mark.parametrize(
    ("said", "there", "missing"),
    [
        ("build/*", [], "web/web.go embeds build/*"),
        ("index.html all:assets", ["web/index.html"], "web/web.go embeds assets"),
        ("index.html all:assets", ["web/index.html", "web/assets/a"], ""),
        ('"a page.html" assets/*', ["web/a page.html", "web/assets/.a"], ""),
        ("a**b", [], "web/web.go embeds a**b"),
    ],
)
def test_embedded_files_that_are_not_there_are_marked(
    tmp_path: Path, said: str, there: Sequence[str], missing: str
) -> None:
    """A page that another step of the build makes: nothing compiles without it."""
    embedding = {
        "main.go": 'package main\n\nimport "x/web"\n\nfunc main() { web.Serve() }\n',
        "web/web.go": f'package web\n\nimport "embed"\n\n//go:embed {said}\nvar page embed.FS\n',
    }
    drafted(tmp_path, GO | embedding | dict.fromkeys(there, "x"))
    text = (tmp_path / "bench/service/stack.toml").read_text()
    assert re.findall(r"# look: (.* embeds .*), which is not there", text) == ([missing] if missing else [])


READS = 'fn main() { read_to_string("config/default.toml"); File::with_name("./app.yaml"); read("absent.toml"); }'


def test_the_settings_that_a_program_of_rust_names_are_shipped(tmp_path: Path) -> None:
    laid = {"src/main.rs": READS, "config/default.toml": "", "app.yaml": "", "Rocket.toml": "", "other.toml": ""}
    plain = drafted(tmp_path, RUST | laid).variants["plain"]
    assert plain.artifacts == ["server", "app/Rocket.toml", "app/app.yaml", "app/config"]
    assert plain.run_in == "app"
    text = (tmp_path / "bench/service/stack.toml").read_text()
    assert "# look: it seems to read Rocket.toml, app.yaml, config" in text


def test_a_program_whose_settings_lie_at_the_workspaces_top_is_started_there(tmp_path: Path) -> None:
    laid = workspace.CARGO | {"crates/api/src/main.rs": READS, "config/default.toml": ""}
    plain = workspace.drafted(tmp_path, laid, "crates/api").variants["plain"]
    assert (plain.artifacts, plain.run_in) == (["server", "app/config"], "app")
    assert plain.run == ["./server"]


SERVER = {"api/Cargo.toml": '[package]\nname = "api"\n', "api/src/main.rs": "axum::serve(a, b)"}
TOOL = {"a/Cargo.toml": '[package]\nname = "a"\n', "a/src/main.rs": "fn main() {}"}
WORKSPACE = {"Cargo.toml": '[workspace]\nmembers = ["a", "api"]\n', **TOOL, **SERVER}


@pytest.mark.parametrize(
    ("image", "program"),
    [
        ("", "api"),
        ("RUN cargo build --release --bin a\n", "a"),
        ("FROM x\nCOPY --from=build /src/target/release/a /bin/\n", "a"),
        ('FROM x\nCMD ["/usr/bin/a"]\n', "a"),
    ],
)
def test_of_several_programs_of_rust_the_one_that_is_deployed_or_listens_is_built(
    tmp_path: Path, image: str, program: str
) -> None:
    stack = drafted(tmp_path, {**WORKSPACE, **({"Dockerfile": image} if image else {})})
    assert stack.variants["plain"].build[0][-1] == program


@pytest.mark.parametrize(
    ("line", "built"),
    [
        ("RUN go build -o /x ./cmd/tool", "./cmd/tool"),
        ("RUN CGO_ENABLED=0 go build -ldflags '-s -X main.v=1' -tags a,b -o bin/x cmd/tool/*", "./cmd/tool"),
        ("RUN go install example.org/x/cmd/none && go build ./cmd/tool/main.go", "./cmd/tool"),
        ("RUN make", "./cmd/shop"),
    ],
)
def test_of_several_programs_of_go_the_one_that_its_image_builds_is_built(
    tmp_path: Path, line: str, built: str
) -> None:
    programs = {"cmd/shop/main.go": f"{MAIN_GO}http.ListenAndServe(a, b)", "cmd/tool/main.go": MAIN_GO}
    build = drafted(tmp_path, GO | programs | {"Dockerfile": f"FROM golang\n{line}\n"}).variants["plain"].build[0]
    assert build[-1] == built
    assert ("-tags=a,b" in build) is ("-tags" in line)


@pytest.mark.parametrize(
    ("start", "run"),
    [
        ("nodemon --exec babel-node src/a.js", "app/node_modules/.bin/babel-node src/a.js"),
        ("nodemon --watch src -x ts-node src/a.js", "app/node_modules/.bin/ts-node src/a.js"),
        ("nodemon -w src --ext=js src/a.js", "node src/a.js"),
    ],
)
def test_what_nodemon_starts_is_started_without_it(tmp_path: Path, start: str, run: str) -> None:
    manifest = json.dumps({"scripts": {"start": start}, "devDependencies": {"nodemon": "3"}})
    plain = drafted(tmp_path, {"package.json": manifest, "src/a.js": ""}).variants["plain"]
    assert (" ".join(plain.run or []), "app/src" in plain.artifacts) == (run, True)
