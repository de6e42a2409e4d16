"""Builds that ask git for a version: what is copied to be built has no history, so that the version is given."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from packaging.version import InvalidVersion, Version

from touchstone.intake.service.base import APP, DraftStack, Words
from touchstone.intake.service.reading import read_source

_BY_VARIABLE = {
    r"setuptools[-_]scm|hatch-vcs|vcs-versioning": "SETUPTOOLS_SCM_PRETEND_VERSION",
    r"poetry-dynamic-versioning": "POETRY_DYNAMIC_VERSIONING_BYPASS",
    r"uv-dynamic-versioning": "UV_DYNAMIC_VERSIONING_BYPASS",
    r"\bpbr\b": "PBR_VERSION",
    r"source\s*=\s*[\"']scm[\"']": "PDM_BUILD_SCM_VERSION",
}
"""Tools of Python, by how a project names them, that take the version from a variable instead."""
_ASKS = r"\bgit\b[^\n]{0,40}?\b(?:describe|rev-parse|rev-list)\b"
_BY_GIT = {
    "Python": rf"versioningit|setuptools-git-versioning|dunamai|versioneer|{_ASKS}",
    "Java": rf"git-commit-id|buildnumber-maven|jgitver|git-versioning|git-properties|git-version|axion-release|grgit|"
    rf"nebula\.release|reckon|{_ASKS}",
    "Rust": rf"\bvergen|\bbuilt\b|git-version|shadow-rs|{_ASKS}",
    "JavaScript": _ASKS,
    "C": rf"{_ASKS}|GetGitRevision|GIT_EXECUTABLE",
}
"""What asks git itself, and for what is there no variable that all of them take."""
_LIKE = {"Kotlin": "Java", "TypeScript": "JavaScript", "C++": "C"}
_FILES = {
    "Python": ("pyproject.toml", "setup.py", "setup.cfg"),
    "Java": ("pom.xml", "*/pom.xml", ".mvn/extensions.xml", "*.gradle", "*.gradle.kts", "*/*.gradle*", "gradle/*.toml"),
    "Rust": ("Cargo.toml", "build.rs", "*/Cargo.toml", "*/build.rs", "*/*/Cargo.toml", "*/*/build.rs"),
    "JavaScript": ("package.json", "vite.config.*", "next.config.*", "webpack.config.*"),
    "C": ("CMakeLists.txt", "*/CMakeLists.txt", "cmake/*.cmake"),
}
_BEFORE_ALL = "0.0.0"
_HISTORY = (
    "git init -q && git add -A && "
    "git -c user.name=lab -c user.email=lab@localhost -c core.hooksPath=/dev/null commit -qm {tag} --allow-empty && "
    "git tag -f {tag}"
)


def with_version(drafted: DraftStack, copied: Path) -> DraftStack:
    """The draft with the version that its build asks git for: by a variable, or by a history of one commit.

    `copied` is the folder that is copied to be built.
    """
    language = _LIKE.get(drafted.language, drafted.language)
    files = [path for pattern in _FILES.get(language, ()) for path in sorted(copied.glob(pattern))]
    held = "\n".join(map(read_source, files))
    version = ""
    if language == "Python" and (names := [name for asked, name in _BY_VARIABLE.items() if re.search(asked, held)]):
        version = _last_tag(copied)
        drafted = _with_variables(drafted, dict.fromkeys(names, version))
    if found := re.search(_BY_GIT.get(language, r"(?!)"), held):
        version = version or _last_tag(copied)
        drafted = _with_history(drafted, found[0], version)
    return drafted


def _with_variables(drafted: DraftStack, given: Mapping[str, str]) -> DraftStack:
    install = drafted.install and replace(drafted.install, env={**drafted.install.env, **given})
    build_env = {**drafted.build_env, **given} if drafted.build else drafted.build_env
    guess = (
        f"its build asks git for a version, and gets {', '.join(f'{name}={value}' for name, value in given.items())}"
    )
    return replace(drafted, install=install, build_env=build_env, guessed=[*drafted.guessed, guess])


def _with_history(drafted: DraftStack, asked: str, version: str) -> DraftStack:
    """The draft with a commit and a tag in the copy, made before installation and build."""
    made: list[Words] = [["sh", "-c", f"cd {APP} && {_HISTORY.format(tag=f'v{version}')}"]]
    install = drafted.install
    if install and not install.files and drafted.language != "Rust":
        # What Cargo fetches it does not build.
        install = replace(install, commands=[*made, *install.commands])
    build = [*made, *drafted.build] if drafted.build else drafted.build
    guess = f"its build asks git (`{asked}`): it gets a history of one commit, tagged v{version}"
    return replace(drafted, install=install, build=build, guessed=[*drafted.guessed, guess])


def _last_tag(folder: Path) -> str:
    """The version that the last tag of a repository has. One before all others if there is none."""
    asked: Sequence[str] = ["git", "-C", str(folder), "describe", "--tags", "--abbrev=0"]
    try:
        done = subprocess.run(asked, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=30)
        return str(Version(re.sub(r"^\D*", "", done.stdout.strip())))
    except (OSError, subprocess.SubprocessError, InvalidVersion, UnicodeDecodeError):
        return _BEFORE_ALL
