"""`touchstone site` reads the runs below a folder, names those that it leaves out, and refuses a folder without any."""

from __future__ import annotations

import tarfile
from pathlib import Path

from tests.command import touchstone
from tests.judge.sound import sound_run
from touchstone.site.page import write_site

ROOT = Path(__file__).resolve().parents[2]


def test_a_site_is_written_over_a_folder_of_runs(tmp_path: Path) -> None:
    for place in ("a", "b/c"):
        (tmp_path / "runs" / place).mkdir(parents=True)
        with tarfile.open(ROOT / "tests/golden/runs/crud.tar.xz") as packed:
            packed.extractall(tmp_path / "runs" / place, filter="data")
    (tmp_path / "runs" / "broken").mkdir()
    (tmp_path / "runs" / "broken" / "plan.json").write_text("{", encoding="utf-8")
    made = touchstone("site", "runs", "--out", "runs/site", cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    assert made.stderr.count("left out") == 2
    assert (tmp_path / "runs/site/index.html").is_file()
    assert len(list((tmp_path / "runs/site/runs").iterdir())) == 1
    assert touchstone("site", "runs", "--out", "runs/site", cwd=tmp_path).returncode == 0


def test_a_folder_without_runs_is_refused(tmp_path: Path) -> None:
    for folder in (".", "nowhere"):
        made = touchstone("site", folder, "--out", "site", cwd=tmp_path)
        assert made.returncode != 0
        assert "do:" in made.stderr
    assert not (tmp_path / "site").exists()


def test_no_two_contenders_share_a_badge(tmp_path: Path) -> None:
    run = sound_run(contenders={"go-gin/plain": 20_000.0, "go/gin-plain": 24_000.0})
    written = write_site([run], tmp_path, "Two")
    badges = [path.relative_to(tmp_path).as_posix() for path in written if path.suffix == ".svg"]
    assert badges == ["badges/users/go-gin.plain.svg", "badges/users/go.gin-plain.svg"]
    assert "go/gin-plain" in (tmp_path / badges[1]).read_text(encoding="utf-8")
