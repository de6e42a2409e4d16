"""How pip or uv installs a service's packages, depending on the file that names them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from touchstone.intake.service.base import DraftInstall, Words, below, first_there
from touchstone.intake.service.dockerfile import DockerfileImage
from touchstone.intake.service.poetry_lock import LOCK as POETRY_LOCK
from touchstone.intake.service.poetry_lock import pinned
from touchstone.intake.service.python_project import (
    PIPFILE,
    PIPFILE_LOCK,
    PROJECT,
    SETUP,
    Project,
    name_of,
    project_of,
    uv_members,
)
from touchstone.intake.service.requirements import requirements
from touchstone.intake.service.workspace import holding, place_in, root_of

_REQUIREMENTS = (
    "requirements.txt",
    *(f"requirements/{name}.txt" for name in ("production", "prod", "base", "common")),
)
MARKS = (*_REQUIREMENTS, PROJECT, PIPFILE, *SETUP)
_INSTALLS = re.compile(r"\b(?:pip3?|uv|poetry|pdm|pipenv)\s+(?:pip\s+)?(?:install|sync)\b|setup\.py install")
_ITSELF = re.compile(
    r"\binstall\b[^&|;]*\s[\"']?(?:\.(?:\[[^]]*\])?|\./?)[\"']?(?:\s|$)|setup\.py install|"
    r"\bpoetry install\b|\buv sync\b"
)
"""What an image is made by, and what of it installs the service itself."""
_UV_LOCK = "uv.lock"
_SAY = (PROJECT, POETRY_LOCK, PIPFILE, PIPFILE_LOCK)
"""What says what a project without a requirements.txt depends on."""
_NOT_DEPLOYED = ("dev", "test", "lint", "doc")
"""How extras and groups begin that are looked at last."""


@dataclass(frozen=True)
class Packages:
    """How what a service depends on is got, and where it then is."""

    install: DraftInstall
    python: str
    """The interpreter that has it, as from the work folder."""
    root: Path
    """What is copied: the service's folder, or one above that has all that it names."""
    needs: Mapping[str, str] = field(default_factory=dict)
    guessed: Sequence[str] = ()


@dataclass(frozen=True)
class _Served:
    """The server's package, if the service itself does not depend on it."""

    extras: Sequence[str] = ()
    groups: Sequence[str] = ()
    added: Sequence[str] = ()
    guessed: Sequence[str] = ()


def packages(service: Path, server: str = "", image: DockerfileImage | None = None) -> Packages:
    """Its packages, itself and the server that it is started by among them. Raises UsageError if a file cannot be read.

    Its `image` says whether it is installed itself where only requirements are named.
    """
    if root := _locked_by_uv(service):
        return _by_uv(service, root, server)
    if file := first_there(service, _REQUIREMENTS):
        return _by_requirements(service, file, server, itself=_installs_itself(service, image))
    return _by_project(service, server)


def _locked_by_uv(service: Path) -> Path | None:
    """The folder that has its lock file: its own, or that of its workspace."""
    root = service if (service / _UV_LOCK).is_file() else root_of(service, uv_members)
    return root if root and (root / _UV_LOCK).is_file() else None


def _by_uv(service: Path, locked: Path, server: str) -> Packages:
    project = project_of(service)
    root = holding(locked, list(project.folders.values()))
    called = partial(_called, root)
    served = _served(project.needed, project, server)
    python = f"{called(locked)}/.venv/bin/python"
    chosen = [*(f"--extra={one}" for one in served.extras), *(f"--group={one}" for one in served.groups)]
    # What lies in a folder is copied: the installation is moved away from where it was made.
    copied = ["--no-editable"] if project.package or project.folders else []
    synced = ["uv", "sync", "--quiet", "--frozen", "--no-dev", *copied, *chosen, "--project", called(service)]
    added = [["uv", "pip", "install", "--quiet", "--python", python, *served.added]] if served.added else []
    files = [] if copied or locked != service else [called(service / PROJECT), called(service / _UV_LOCK)]
    install = DraftInstall([synced, *added], files, [f"{called(locked)}/.venv"])
    return Packages(
        install, python, root, {"uv": ">=0.4"}, [*served.guessed, *_outside(root, project.folders.values())]
    )


def _installs_itself(service: Path, image: DockerfileImage | None) -> bool:
    """Whether a service that is a package is installed as one where it is deployed. Where nobody says, it is."""
    installs = [line for line in (image.commands if image else ()) if _INSTALLS.search(line)]
    return project_of(service).whole and (not installs or any(_ITSELF.search(line) for line in installs))


def _by_requirements(service: Path, file: str, server: str, *, itself: bool) -> Packages:
    files, lines = requirements(service, file)
    paths = [line.path for line in lines if line.path]
    root = holding(service, [*files, *paths])
    called = partial(_called, root)
    served = _served([line.text for line in lines], Project(()), server)
    guessed = [*served.guessed, *_outside(root, [*files, *paths])]
    if any(not line.option for line in lines if line.path):
        inside = [line for line in lines if line.path is None or line.path.is_relative_to(root)]
        words = [word for line in inside for word in line.words(called)]
        return _by_pip(root, [*words, *served.added], (), guessed)
    read = [called(one) for one in files if one.is_relative_to(root)]
    what = ["-r", called(service / file), *served.added]
    if itself:
        return _by_pip(root, what, (), guessed, behind=["--no-deps", f"./{called(service)}"])
    return _by_pip(root, what, read, guessed)


def _by_project(service: Path, server: str) -> Packages:
    project = project_of(service)
    served = _served([*project.needed, *pinned(service, project.needed)[1]], project, server)
    own = [*project.needed, *(one for extra in served.extras for one in project.extras[extra])]
    if project.whole and not (service / POETRY_LOCK).is_file():
        # It says that itself as it is installed.
        own = []
    asked = [*own, *(one for group in served.groups for one in project.groups[group]), *served.added]
    root = holding(service, list(project.folders.values()))
    called = partial(_called, root)
    extras = f"[{','.join(served.extras)}]" if served.extras else ""
    itself = [f"./{called(service)}{extras}"] if project.whole else []
    folders = [f"./{called(folder)}" for folder in project.folders.values() if folder.is_relative_to(root)]
    direct, indirect = pinned(service, [one for one in asked if name_of(one) not in project.folders])
    read = [] if itself or folders else [called(service / name) for name in _SAY if (service / name).is_file()]
    guessed = [*served.guessed, *_outside(root, project.folders.values())]
    return _by_pip(root, [*itself, *folders, *direct, *indirect], read, guessed)


def _served(requirements: Sequence[str], project: Project, server: str) -> _Served:
    """Nothing if it is among these. Else the extra or the group that has it; else the server itself."""
    if not server or any(_brings(one, server) for one in requirements):
        return _Served()
    found = [
        (kind, name)
        for kind, listed in (("extra", project.extras), ("group", project.groups))
        for name, asked in listed.items()
        if any(_brings(one, server) for one in asked)
    ]
    if not found:
        guess = f"{server} is not among its requirements, and is added: name the server that it is deployed with"
        return _Served(added=[server], guessed=[guess])
    kind, name = min(found, key=lambda one: one[1].startswith(_NOT_DEPLOYED))
    guessed = [f"{server} is in its {kind} `{name}`, which is installed too"]
    return _Served([name], guessed=guessed) if kind == "extra" else _Served(groups=[name], guessed=guessed)


def _brings(requirement: str, server: str) -> bool:
    """Whether a server comes with this; FastAPI has one in each of its extras."""
    return name_of(requirement) == server or (server == "uvicorn" and requirement.lower().startswith("fastapi["))


def _by_pip(root: Path, what: Words, files: Sequence[str], guessed: Sequence[str], behind: Words = ()) -> Packages:
    """By pip; what is `behind` by a command of its own."""
    python = ".venv/bin/python"
    pip = [python, "-m", "pip", "install", "--quiet"]
    commands = [["python", "-m", "venv", ".venv"], [*pip, *what], *([[*pip, *behind]] if behind else [])]
    return Packages(DraftInstall(commands, files, [".venv"]), python, root, {}, guessed)


def _called(root: Path, path: Path) -> str:
    """A file or folder as it is called in the work folder."""
    return below(place_in(path, root))


def _outside(root: Path, paths: Iterable[Path]) -> list[str]:
    left_out = dict.fromkeys(path for path in paths if not path.is_relative_to(root))
    return [f"{path} lies outside of its repository, and is not copied" for path in left_out]
