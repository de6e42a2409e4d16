"""Which program of a compiled service is built, and what lies next to it when it is started."""

from __future__ import annotations

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
