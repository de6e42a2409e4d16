"""What a checkout lacks is named, and the version that a build asks git for is given."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.intake.services import GO, MAIN_GO, RUST, drafted, lay

POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:" + "a" * 64 + "\nsize 12345\n"
SUBMODULES = '[submodule "a"]\n\tpath = lib/a\n\turl = x\n[submodule "b"]\n\tpath = lib/b\n\turl = y\n'
SCM = '[build-system]\nrequires = ["setuptools", "setuptools-scm"]\n[project]\nname = "shop"\ndynamic = ["version"]\n'
PYTHON = {"server.py": "", "shop/__init__.py": ""}


def git(folder: Path, *words: str) -> None:
    who = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false", "-c", "tag.gpgsign=false"]
    subprocess.run(["git", "-C", str(folder), *who, *words], check=True, capture_output=True)


def marks(folder: Path) -> str:
    return (folder / "bench/service/stack.toml").read_text()


def test_a_submodule_that_was_not_fetched_is_named(tmp_path: Path) -> None:
    lay(tmp_path, {".gitmodules": SUBMODULES, "lib/b/x.h": ""})
    (tmp_path / "lib/a").mkdir()
    git(tmp_path, "init")
    drafted(tmp_path, GO | {"main.go": MAIN_GO})
    assert "# look: submodule lib/a is not there: git submodule update --init --recursive\n" in marks(tmp_path)


def test_pointers_of_git_lfs_are_named(tmp_path: Path) -> None:
    drafted(tmp_path, GO | {"main.go": MAIN_GO} | {f"data/{n}.bin": POINTER for n in range(7)})
    assert (
        "files data/0.bin, data/1.bin, data/2.bin, data/3.bin, data/4.bin and 2 more are only a pointer of Git LFS"
        in (marks(tmp_path))
    )


def test_a_whole_checkout_lacks_nothing(tmp_path: Path) -> None:
    drafted(tmp_path, GO | {"main.go": MAIN_GO, "a.bin": "not a pointer" * 9, ".gitmodules": ""})
    assert "submodule" not in marks(tmp_path)
    assert "LFS" not in marks(tmp_path)


@pytest.mark.parametrize(
    ("project", "variable"),
    [
        (SCM, "SETUPTOOLS_SCM_PRETEND_VERSION"),
        (SCM.replace("setuptools-scm", "setuptools_scm[toml]>=8"), "SETUPTOOLS_SCM_PRETEND_VERSION"),
        (SCM.replace('"setuptools", "setuptools-scm"', '"hatchling", "hatch-vcs"'), "SETUPTOOLS_SCM_PRETEND_VERSION"),
        (SCM.replace("setuptools-scm", "pbr"), "PBR_VERSION"),
        (SCM.replace("setuptools-scm", "poetry-dynamic-versioning"), "POETRY_DYNAMIC_VERSIONING_BYPASS"),
        (SCM.replace("setuptools-scm", "uv-dynamic-versioning"), "UV_DYNAMIC_VERSIONING_BYPASS"),
        (
            SCM.replace("setuptools-scm", "pdm-backend") + '[tool.pdm.version]\nsource = "scm"\n',
            "PDM_BUILD_SCM_VERSION",
        ),
    ],
)
def test_a_version_that_a_variable_can_give_is_given(tmp_path: Path, project: str, variable: str) -> None:
    lay(tmp_path, {"pyproject.toml": project})
    git(tmp_path, "init")
    git(tmp_path, "commit", "--allow-empty", "-m", "a")
    git(tmp_path, "tag", "v1.4.2")
    git(tmp_path, "commit", "--allow-empty", "-m", "b")
    install = drafted(tmp_path, PYTHON).install
    assert install is not None
    assert install.env[variable] == "1.4.2"
    assert "./app" in install.commands[-1]
    assert f"# look: its build asks git for a version, and gets {variable}=1.4.2" in marks(tmp_path)


MAVEN = "<project><artifactId>a</artifactId><build><plugins><plugin><artifactId>{}</artifactId></plugin></plugins>"
MAVEN += "</build></project>"


@pytest.mark.parametrize(
    "files",
    [
        {"pom.xml": MAVEN.format("git-commit-id-maven-plugin")},
        {"pom.xml": MAVEN.format("buildnumber-maven-plugin")},
        {"pom.xml": MAVEN.format("a"), ".mvn/extensions.xml": "<extension>maven-git-versioning-extension</extension>"},
        {"build.gradle": "plugins { id 'application'; id 'com.gorylenko.gradle-git-properties' version '2' }"},
        {"build.gradle.kts": 'plugins { application; id("pl.allegro.tech.build.axion-release") }'},
        {"build.gradle": "version = 'git describe'.execute().text"},
        RUST | {"Cargo.toml": '[package]\nname = "a"\n[build-dependencies]\nvergen-gix = "1"\n', "src/main.rs": ""},
        RUST | {"build.rs": 'Command::new("git").args(["rev-parse", "HEAD"])', "src/main.rs": ""},
        {
            "package.json": '{"scripts": {"build": "VERSION=$(git describe --tags) tsc", "start": "node a.js"}}',
            "a.js": "",
        },
        {"CMakeLists.txt": "project(a C)\nexecute_process(COMMAND git describe)\nadd_executable(a a.c)\n"},
    ],
)
def test_a_build_that_asks_git_itself_gets_a_history(tmp_path: Path, files: dict[str, str]) -> None:
    stack = drafted(tmp_path, files)
    first = stack.variants["plain"].build[0]
    assert (first[:2], "# look: its build asks git" in marks(tmp_path)) == (["sh", "-c"], True)
    lay(tmp_path / "work/app", {"a": "b"})
    for _ in range(2):
        # The warm build carries it out once more.
        subprocess.run(first, cwd=tmp_path / "work", check=True, capture_output=True)
    described = subprocess.run(
        ["git", "-C", tmp_path / "work/app", "describe", "--tags", "--dirty"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert described.stdout.strip() == "v0.0.0"


def test_versioningit_gets_a_history_where_the_project_is_installed(tmp_path: Path) -> None:
    install = drafted(tmp_path, PYTHON | {"pyproject.toml": SCM.replace("setuptools-scm", "versioningit")}).install
    assert install is not None
    assert install.commands[0][:2] == ["sh", "-c"]


def test_a_build_that_asks_nobody_gets_nothing(tmp_path: Path) -> None:
    stack = drafted(tmp_path, RUST | {"src/main.rs": "fn main() {}"})
    assert stack.variants["plain"].build[0][0] == "cargo"


def test_go_takes_no_version_from_a_repository_around_the_work_folder(tmp_path: Path) -> None:
    assert "-buildvcs=false" in drafted(tmp_path, GO | {"main.go": MAIN_GO}).variants["plain"].build[0]
