"""Builds as people have them, and what is run after them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.run.demo import demo
from tests.run.test_end_to_end import report_of

INCREMENTAL = """
import pathlib, shutil
if not pathlib.Path("info").exists():
    pathlib.Path("info").touch()
    pathlib.Path("dist").mkdir()
    shutil.copy("server.py", "dist/server.py")
"""


@pytest.mark.parametrize("artifacts", ['["dist"]', '["dist/*.py"]', '["dist/server.py"]'])
def test_a_build_that_makes_nothing_twice_is_run_as_it_was_made_once(tmp_path: Path, artifacts: str) -> None:
    home = demo(tmp_path / "demo") / "sound"
    (home / "build.py").write_text(INCREMENTAL)
    text = (home / "stack.toml").read_text().replace("build = []", 'build = [["python3", "build.py"]]')
    text = text.replace('["server.py"]', artifacts).replace('"python3", "server.py"', '"python3", "dist/server.py"')
    (home / "stack.toml").write_text(text)
    code, report = report_of(tmp_path, "demo", "--phase", "build", "--phase", "verify")
    assert code == 0
    build, verify = (s for s in report["run"]["samples"] if s["phase"] in {"build", "verify"})
    assert all(check["passed"] for check in verify["checks"])
    assert build["figures"]["artifact_bytes"] > 0
    assert "build_warm" not in build["figures"]
    assert "made nothing again" in build["not_measured"]["build_warm"]


def test_a_build_that_leaves_an_empty_folder_has_left_nothing(tmp_path: Path) -> None:
    home = demo(tmp_path / "demo") / "sound"
    text = (home / "stack.toml").read_text()
    making = "import os; os.makedirs('dist')"
    text = text.replace("build = []", f'build = [["python3", "-c", "{making}"]]').replace('["server.py"]', '["dist"]')
    (home / "stack.toml").write_text(text)
    code, report = report_of(tmp_path, "demo", "--phase", "build", "--phase", "verify")
    assert code == 4
    (build,) = (s for s in report["run"]["samples"] if s["phase"] == "build")
    assert "the build left no dist" in build["failure"]["what"]


def test_what_a_run_left_in_the_work_folder_is_not_there_in_the_next(tmp_path: Path) -> None:
    server = demo(tmp_path / "demo") / "sound" / "server.py"
    kept = 'if FAULT == "fails-at-start":'
    text = server.read_text()
    assert kept in text
    seen = 'FAULT = "wrong-body" if os.path.exists("data") else FAULT\nopen("data", "w").close()\n'
    server.write_text(text.replace(kept, seen + kept))
    for _ in range(2):
        code, report = report_of(tmp_path, "demo", "--phase", "verify")
        assert code == 0
        (verify,) = (s for s in report["run"]["samples"] if s["phase"] == "verify")
    assert verify["process"]["left_in_work"]["removed"] == ["data"]


@pytest.mark.parametrize("change", [Path.unlink, lambda file: file.write_text("raise SystemExit")])
def test_a_kept_build_that_is_no_longer_whole_is_made_again(tmp_path: Path, change: Callable[[Path], object]) -> None:
    demo(tmp_path / "demo")
    for _ in range(2):
        code, report = report_of(tmp_path, "demo", "--phase", "verify")
        assert code == 0
        (build,) = (s for s in report["run"]["samples"] if s["phase"] == "build")
        assert not build["evidence"]["cached"]
        (server,) = (tmp_path / "cache" / "builds").glob("*/work/server.py")
        change(server)
