"""Services to draft from: files in a folder, and what `touchstone new` makes of them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from tests.cli.test_commands import touchstone
from touchstone.check.folder import refuse_problems
from touchstone.manifest.catalogue import read_scenario_folder
from touchstone.manifest.stack import Stack

MAIN_GO = "package main\n\nfunc main() {}\n"
RUST = {"Cargo.toml": '[package]\nname = "shop"\n'}
GO = {"go.mod": "module x\n"}


def lay(folder: Path, files: Mapping[str, str]) -> Path:
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content)
    return folder


def drafted(tmp_path: Path, files: Mapping[str, str]) -> Stack:
    lay(tmp_path, files)
    done = touchstone(tmp_path, "new", "bench", "--service", ".")
    assert done.returncode == 0, done.stderr
    assert "say in bench/scenario.toml its requests and responses" in done.stdout
    assert "touchstone run bench --phase verify" in done.stdout
    folder = read_scenario_folder(tmp_path / "bench")
    refuse_problems(folder, {"service"})
    (stack,) = folder.stacks
    assert stack.extra_sources == {"app": "../.."}
    return stack
