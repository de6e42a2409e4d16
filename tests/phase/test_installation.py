"""What a stack depends on is installed once for one content of its lock file, and laid into each build."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path

import pytest

from tests.manifest.test_reader import SCENARIO
from touchstone.bench.artifact_files import artifact_bytes, artifact_files, artifact_paths
from touchstone.bench.artifact_identity import digests
from touchstone.manifest.catalogue import read_scenario_folder
from touchstone.manifest.reader import ManifestError
from touchstone.manifest.stack import Install, Stack
from touchstone.phase.build.installation import install
from touchstone.phase.build.metering import Meter
from touchstone.phase.build.workshop import BuildError, Workshop
from touchstone.record.evidence.build import InstallEvidence
from touchstone.toolchain.registry import find_tool
from touchstone.toolchain.tool import FoundTool

INSTALLER = """
import pathlib, sys
bin = pathlib.Path(".venv/bin")
bin.mkdir(parents=True)
(bin / "serve").write_text(f"#!{pathlib.Path.cwd()}/.venv/bin/python\\n")
(bin / "python").symlink_to(sys.executable)
pathlib.Path(".venv/version").write_text(pathlib.Path("lock").read_text())
pathlib.Path("scratch").write_text("left behind")
"""

STACK = """
schema = 1
name = "one"
scenario = "demo"
title = "One"
language = "Python"
[needs]
python3 = ">=3.11"
[install]
files = ["lock", "install.py"]
commands = [["python3", "install.py"]]
leaves = [".venv"]
[variants.plain]
title = "plain"
build = [["python3", "build.py"]]
artifacts = ["server.py", ".venv", "dist/**"]
run = [".venv/bin/python", "server.py"]
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TOUCHSTONE_CACHE", str(tmp_path / "cache"))
    home = tmp_path / "demo" / "one"
    home.mkdir(parents=True)
    (tmp_path / "demo" / "scenario.toml").write_text(SCENARIO)
    (home / "stack.toml").write_text(STACK)
    (home / "install.py").write_text(INSTALLER)
    (home / "build.py").write_text(
        "import pathlib; p = pathlib.Path('dist'); p.mkdir(exist_ok=True); (p / 'app.js').open('x').write('app')"
    )
    (home / "lock").write_text("1.0")
    (home / "server.py").write_text("pass")
    return home


def stack_in(folder: Path) -> Stack:
    return read_scenario_folder(folder.parent).stacks[0]


def workshop_of(folder: Path, tmp_path: Path, name: str = "build") -> Workshop:
    python = find_tool("python3")
    assert isinstance(python, FoundTool)
    shop = Workshop(stack_in(folder), "plain", {"python3": python}, tmp_path / name, None, tmp_path / "log")
    shop.fresh()
    return shop


def installed(shop: Workshop, *, fresh: bool = False) -> InstallEvidence:
    wanted = shop.stack.install_of("plain")
    assert wanted is not None
    return install(shop, wanted, fresh=fresh)


def test_an_equal_lock_file_is_installed_once_and_another_one_anew(folder: Path, tmp_path: Path) -> None:
    first, again = installed(workshop_of(folder, tmp_path)), installed(workshop_of(folder, tmp_path, "second"))
    assert (first.cached, again.cached) == (False, True)
    assert again.seconds == first.seconds > 0
    (folder / "server.py").write_text("print()")
    assert installed(workshop_of(folder, tmp_path)).cached, "a source that the commands do not read changes nothing"
    (folder / "lock").write_text("2.0")
    shop = workshop_of(folder, tmp_path)
    assert not installed(shop).cached
    assert (shop.work / ".venv/version").read_text() == "2.0"
    assert not installed(workshop_of(folder, tmp_path), fresh=True).cached


def test_what_was_written_down_by_half_is_installed_anew(folder: Path, tmp_path: Path) -> None:
    installed(workshop_of(folder, tmp_path))
    (record,) = (tmp_path / "cache" / "installs").glob("*/install.json")
    record.write_text(record.read_text()[:40])
    shop = workshop_of(folder, tmp_path)
    assert not installed(shop).cached
    assert (shop.work / ".venv/version").read_text() == "1.0"
    assert installed(workshop_of(folder, tmp_path)).cached


def test_only_what_it_leaves_is_laid_and_scripts_name_their_new_place(folder: Path, tmp_path: Path) -> None:
    shop = workshop_of(folder, tmp_path)
    installed(shop)
    assert not (shop.work / "scratch").exists()
    assert (shop.work / ".venv/bin/serve").read_text() == f"#!{shop.work}/.venv/bin/python\n"
    assert (shop.work / ".venv/bin/python").is_symlink()


def test_a_warm_build_makes_its_own_anew_and_keeps_what_was_installed(folder: Path, tmp_path: Path) -> None:
    shop = workshop_of(folder, tmp_path)
    installed(shop)
    shop.begin()
    for _ in range(2):
        # build.py fails if the file that it makes is there.
        shop.run(shop.variant.build, {}, Meter(), "build")
        assert (shop.work / "dist/app.js").read_text() == "app"
        shop.set_artifacts_aside()
    assert (shop.work / ".venv/version").is_file()
    assert (shop.work / "server.py").is_file()


def test_a_program_that_is_copied_in_with_its_times_is_older_than_the_build(folder: Path, tmp_path: Path) -> None:
    shop = workshop_of(folder, tmp_path)
    shop.begin()
    began = time.time()
    (shop.work / "dist").mkdir()
    for name, content, age in (("old", b"\x7fELF", 60), ("new", b"\x7fELF", 0), ("text", b"text", 60)):
        (shop.work / "dist" / name).write_bytes(content)
        os.utime(shop.work / "dist" / name, (began - age, began - age))
    assert shop.older_than(began) == ["dist/old"]
    shop.begin()
    assert shop.older_than(began) == [], "what lay there before the build is not the build's"
    (shop.work / "dist/packed").write_bytes(b"\x7fELF")
    os.utime(shop.work / "dist/packed", (began - 60, began - 60))
    assert shop.older_than(began) == [], "a packer keeps the time of its input"


def test_a_package_that_lies_next_to_the_program_as_it_was_fetched_is_not_older(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    monkeypatch.setenv("HOME", str(home))
    stored = home / ".m2/repository/org/library-1.0.jar"
    stored.parent.mkdir(parents=True)
    stored.write_bytes(b"PK\x03\x04 library")
    shop = workshop_of(folder, tmp_path)
    shop.begin()
    began = time.time()
    lib = shop.work / "dist/lib"
    lib.mkdir(parents=True)
    shutil.copy(stored, lib / "org.library-1.0.jar")
    (lib / "own.jar").write_bytes(b"PK\x03\x04 program")
    for path in lib.iterdir():
        os.utime(path, (began - 60, began - 60))
    assert shop.older_than(began) == ["dist/lib/own.jar"]


def test_compiler_caches_lie_in_a_folder_that_is_empty_before_a_cold_build(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GOCACHE", "/somewhere/warm")
    shop = workshop_of(folder, tmp_path)
    told = "import os; print(os.environ['GOCACHE'], os.environ['CCACHE_DIR'], os.environ['SCCACHE_DIR'])"
    shop.run([["python3", "-c", told]], {}, Meter(), "build")
    for name in ("go-build", "ccache", "sccache"):
        assert f"{shop.cache}/{name}" in shop.log.read_text()
    shop.run([["python3", "-c", told]], {"GOCACHE": "{cache}/own"}, Meter(), "build")
    assert f"{shop.cache}/own" in shop.log.read_text()


def test_what_the_installation_was_to_leave_and_did_not_is_said(folder: Path, tmp_path: Path) -> None:
    shop = workshop_of(folder, tmp_path)
    commands = [["python3", "install.py"]]
    with pytest.raises(BuildError, match="left no node_modules"):
        install(shop, Install(commands=commands, leaves=["node_modules"]), fresh=False)
    with pytest.raises(BuildError, match="names yarn-lock"):
        install(shop, Install(commands=commands, files=["yarn-lock"]), fresh=False)


def test_without_leaves_the_package_manager_is_asked_for_each_build(folder: Path, tmp_path: Path) -> None:
    wanted = Install(commands=[["python3", "install.py"]], files=["lock", "install.py"])
    shop = workshop_of(folder, tmp_path)
    assert [install(shop, wanted, fresh=False).cached for _ in range(2)] == [False, False]
    assert not (shop.work / ".venv").exists()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (('build = [["python3", "build.py"]]\nartifacts = ["server.py", ".venv", "dist/**"]', ""), "'.venv' to run"),
        (('".venv", "dist/**"]', '"../other"]'), "does not lie within"),
        (('leaves = [".venv"]', 'leaves = ["/opt/x"]'), "does not lie within"),
        (("leaves =", "leavs ="), "did you mean 'leaves'"),
    ],
)
def test_a_wrong_installation_is_refused(folder: Path, change: tuple[str, str], said: str) -> None:
    (folder / "stack.toml").write_text(STACK.replace(*change))
    with pytest.raises(ManifestError) as caught:
        stack_in(folder)
    assert said in str(caught.value)


def test_artifacts_are_files_folders_and_patterns(tmp_path: Path) -> None:
    for name, text in {
        "server.js": "12345",
        "dist/a.js": "123",
        "dist/deep/b.js": "12",
        "lib/__pycache__/c": "1",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / "dist/link").symlink_to("a.js")
    paths = artifact_paths(tmp_path, ["server.js", "dist/**", "dist/a.js", "lib"])
    assert paths == (tmp_path / "server.js", tmp_path / "dist", tmp_path / "lib")
    assert [path.name for path in artifact_files(paths)] == ["server.js", "a.js", "b.js", "link"]
    assert artifact_bytes(paths) == 5 + 3 + 2 + len("a.js")
    assert artifact_paths(tmp_path, ["dist/*.js"]) == (tmp_path / "dist/a.js",)


def test_a_folder_is_the_same_program_only_with_the_same_content(tmp_path: Path) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib/a").write_text("1")
    before = digests([tmp_path / "lib"])
    (tmp_path / "lib/__pycache__").mkdir()
    (tmp_path / "lib/__pycache__/a.pyc").write_text("a cache")
    assert digests([tmp_path / "lib"]) == before
    (tmp_path / "lib/a").write_text("22")
    assert digests([tmp_path / "lib"]) != before
