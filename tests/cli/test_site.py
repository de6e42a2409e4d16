"""`touchstone site` reads the runs below a folder, names those that it leaves out, and refuses a folder without any."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path

from tests.audit.files import arena
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


def test_imported_results_have_groups_where_they_were_repeated(tmp_path: Path) -> None:
    files = []
    for at in range(3):
        rates = {"alpha": 30_000 + 100 * at, "beta": 20_000 + 150 * at, "gamma": 20_100 + 100 * at}
        entries = [arena(framework=name, rps=rate, avg_latency="3ms") for name, rate in rates.items()]
        files.append(f"{at}/json-64.json")
        (tmp_path / files[-1]).parent.mkdir()
        (tmp_path / files[-1]).write_text(
            json.dumps(entries if at else [*entries, arena(framework="once", rps=25_000)])
        )
    made = touchstone("import", "httparena", *files, "--out", "board", cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    assert "4 entries under 1 test\n" in made.stdout
    again = touchstone("import", "httparena", *files, "--out", "board", cwd=tmp_path)
    assert (again.returncode, "--out" in again.stderr) == (2, True)
    made = touchstone("site", "board", "--out", "public", cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    page = (tmp_path / "public/index.html").read_text(encoding="utf-8")
    data = json.loads(page.split('<script type="application/json" id="data">')[1].split("</script>")[0])
    board = next(one for one in data["boards"] if one["figure"] == "Throughput")
    groups = {data["contenders"][row[1]]: row[5] for row in board["rows"]}
    assert groups == {"alpha": 1, "beta": 2, "gamma": 2, "once": 0}
    assert sorted(path.name for path in (tmp_path / "public").rglob("*")) == ["index.html"]


def test_a_path_that_cannot_be_imported_is_refused(tmp_path: Path) -> None:
    (tmp_path / "one.json").write_text(json.dumps([arena()]))
    (tmp_path / "entry").mkdir()
    for words in (("one.json", "entry"), ("one.json", "gone.json"), ("one.json", "--test", "json"), ("gone.json",)):
        made = touchstone("import", "httparena", *words, cwd=tmp_path)
        assert made.returncode == 2, words
        assert "do:" in made.stderr
    assert not (tmp_path / "httparena").exists()
