"""A service with a requirements.txt, a pyproject.toml or a Pipfile: an ASGI or WSGI application, or a program."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePath

from touchstone.failure import UsageError
from touchstone.intake.service.base import DraftStack, Words, below, first_there
from touchstone.intake.service.command import DeployedCommand
from touchstone.intake.service.deployed import Deployment
from touchstone.intake.service.python_packages import MARKS, packages
from touchstone.intake.service.python_project import PROJECT, Project, project_of, uv_members
from touchstone.intake.service.reading import read_source, read_text, read_toml
from touchstone.intake.service.servers import SERVERS, at_address, module_of, server_in
from touchstone.intake.service.sources import Source, own_sources
from touchstone.intake.service.workspace import members, place_in

_OLDEST = "3.10"
"""The version that is asked for if its files name none."""
_WSGI = ("Flask", "Bottle", "get_wsgi_application")
_ASGI = ("FastAPI", "Starlette", "Litestar", "Quart", "BlackSheep", "get_asgi_application")
_ASGI_FRAMEWORKS = frozenset(("fastapi", "starlette", "litestar", "quart", "sanic", "blacksheep"))
_FRAMEWORK = re.compile(
    rf"^\s*(?:from|import)\s+(flask|bottle|django|{'|'.join(sorted(_ASGI_FRAMEWORKS))})\b", re.MULTILINE
)
"""An import of a framework whose applications are WSGI or ASGI ones."""
_MADE = re.compile(rf"^(\w+)\s*(?::[^=\n]+)?=\s*({'|'.join((*_WSGI, *_ASGI))})\(", re.MULTILINE)
_CALLED = re.compile(r"^(app|application|api)\s*(?::[^=\n]+)?=\s*((?:\w+\.)*\w+)\(", re.MULTILINE)
"""An application that a function of the service's own makes."""
_FACTORY = re.compile(r"^def ((?:create|make|build|get)_app(?:lication)?)\(", re.MULTILINE)
_SERVES_ITSELF = re.compile(r"\bweb\.run_app\(|\bSanic\(|\bIOLoop\.(?:current|instance)\(")
"""What a program has that is a server of its own: aiohttp, Sanic, Tornado."""
_PROGRAMS = ("server.py", "main.py", "app.py", "src/main.py", "src/server.py")
_PATTERNS = ("*.py", "*/*.py", "*/*/*.py", "*/*/*/*.py")
_NOT_SHIPPED = ("test", "docs", "doc", "bench", "script", "venv", "node_modules", "build", "dist")
_FRAMEWORKS = re.compile(
    r"(?:^|[\"'])\W*(?:flask|django|fastapi|starlette|litestar|quart|sanic|aiohttp|tornado|falcon|bottle|pyramid|blacksheep|robyn|"
    r"gunicorn|uvicorn|hypercorn|granian|daphne|waitress|uwsgi|connexion|gradio|streamlit)\b",
    re.MULTILINE | re.IGNORECASE,
)
"""Packages that serve, among its requirements."""
_MANAGED = "manage.py"
_VERSIONS = (".python-version", "runtime.txt")
_VERSION = re.compile(r"(?:^|python[-:])(3\.\d+)", re.MULTILINE)


@dataclass(frozen=True)
class _Application:
    """Where a server finds the application."""

    module: str
    name: str
    says: str
    wsgi: bool
    root: str = ""
    """The folder that modules are imported from, if it is not the service's own."""
    factory: bool = False

    @property
    def server(self) -> str:
        return "gunicorn" if self.wsgi else "uvicorn"

    def words(self) -> Words:
        """The command of the server that most deploy it with."""
        target = f"{self.module}:{self.name}"
        if self.wsgi:
            elsewhere = ["--chdir", self.root] if self.root else []
            return [self.server, *elsewhere, *SERVERS[self.server].address, f"{target}()" if self.factory else target]
        options = [*(["--factory"] if self.factory else []), *(["--app-dir", self.root] if self.root else [])]
        return [self.server, target, *options, *SERVERS[self.server].address]


def serves(service: Path) -> bool:
    """Whether the Python in a folder is the service, and not a tool of its developers."""
    required = _required(service)
    if _FRAMEWORKS.search(required) or (service / _MANAGED).is_file():
        return True
    sources = list(own_sources(service, "Python"))
    return next(_applications(service, sources, required), None) is not None or bool(project_of(service).scripts)


def draft(service: Path, deployment: Deployment) -> DraftStack:
    """Its stack. Raises UsageError if its pyproject.toml cannot be read."""
    _refuse_top(service)
    project = project_of(service)
    found, guessed, server = _start(service, project, deployment.run)
    got = packages(service, server, deployment.image)
    place = place_in(service, got.root)
    return DraftStack(
        language="Python",
        needs={"python": f">={project.python or _OLDEST}", **got.needs},
        install=got.install,
        artifacts=[*_shipped(service, place), *got.install.leaves],
        run=_run(found.words, got.python, project.scripts),
        env=found.env,
        place=place,
        inside=found.folder,
        guessed=[*guessed, *got.guessed, *([] if project.python else _version(service, deployment))],
    )


def _version(service: Path, deployment: Deployment) -> list[str]:
    """A mark for the deployed Python version if the project states no minimum."""
    base = (deployment.image.bases or [""])[-1] if deployment.image else ""
    stated = next((read_source(service / name) for name in _VERSIONS if (service / name).is_file()), base)
    found = _VERSION.search(stated)
    return [f"it is deployed with Python {found[1]}: another version may lack modules that it uses"] if found else []


def _refuse_top(service: Path) -> None:
    """Raises UsageError for the top of a workspace of uv that is not a project itself."""
    held = read_toml(service / PROJECT) if (service / PROJECT).is_file() else {}
    others = members(service, uv_members(service)) if "project" not in held else []
    if others:
        named = ", ".join(f"--service {service / place_in(one, service)}" for one in others)
        raise UsageError(
            f"this is a workspace of {len(others)} packages, and no project of its own",
            where=str(service / PROJECT),
            fix=f"name the package that is the service: {named}",
        )


def _required(service: Path) -> str:
    return "\n".join(read_text(service / name) for name in MARKS if (service / name).is_file())


def _run(words: Words, python: str, scripts: Sequence[str]) -> Words:
    """A program of the environment by its module: a script in it names the folder where it was made."""
    first, *rest = words
    name = PurePath(first).name
    if name.startswith("python") and rest and PurePath(rest[0]).name in scripts:
        # An image may start by `python` what the environment in it has.
        first, *rest = rest
        name = PurePath(first).name
    if name.startswith("python"):
        return [python, *rest]
    if name in scripts:
        return [f"{PurePath(python).parent}/{name}", *rest]
    module = module_of(first)
    return [python, *(["-m", module] if module in SERVERS else [first]), *rest]


def _start(service: Path, project: Project, found: DeployedCommand | None) -> tuple[DeployedCommand, list[str], str]:
    """The command, what of it is a guess, and the server that it runs. No name if it is a server of its own."""
    if found and _is_ours(found.words, project.scripts):
        addressed = at_address(_managed(found))
        return addressed, [f"the command of its {found.source}", *addressed.marks()], server_in(found.words)
    words, guess, server = _by_sources(service, _required(service), project.scripts)
    if found is None:
        return DeployedCommand(words, ""), guess, server
    other = f"{found.source} starts it by `{' '.join(found.words)}`: see what that does"
    return replace(found, words=words), [*guess, other, *found.marks()], server


def _managed(found: DeployedCommand) -> DeployedCommand:
    """Django's server for developers, where its command names no address."""
    if "runserver" in found.words and not found.addressed:
        return replace(found, words=[*found.words, "{host}:{port}"])
    return found


def _by_sources(service: Path, required: str, scripts: Sequence[str]) -> tuple[Words, list[str], str]:
    """The same of a service whose files have no command."""
    sources = list(own_sources(service, "Python"))
    installed = (
        [f"`{scripts[0]}` is the program that the package installs: which arguments make it serve?"]
        if len(scripts) == 1
        else []
    )
    if own := next((source.file for source in sources if any(source.found(_SERVES_ITSELF))), None):
        if installed:
            return [scripts[0]], installed, ""
        return [str(own)], [f"{own} is a server of its own"], ""
    if application := next(_applications(service, sources, required), None):
        guess = [f"{application.says}; give it the workers and options that it is deployed with"]
        return application.words(), guess, application.server
    if (service / _MANAGED).is_file():
        guess = ["no WSGI or ASGI application was found, so that it is Django's server for developers"]
        return [_MANAGED, "runserver", "--noreload", "{host}:{port}"], guess, ""
    program = first_there(service, _PROGRAMS)
    if installed and not program:
        return [scripts[0]], installed, ""
    guess = [] if program else ["no application and no program was found: is server.py what starts it?"]
    return [program or "server.py"], guess, ""


def _is_ours(words: Words, scripts: Sequence[str]) -> bool:
    name = PurePath(words[0]).name
    return name.startswith("python") or module_of(name) in SERVERS or name in scripts


def _applications(service: Path, sources: Sequence[Source], required: str) -> Iterator[_Application]:
    """Application objects, best first: from a framework's class, a called factory, a factory that servers call."""
    sources = sorted(sources, key=lambda source: (len(source.file.parts), source.file))
    made_by = [(source.file, made) for source in sources if (made := next(source.found(_MADE), None))]
    # A project of Django has both; the server of its deployment decides.
    last = "get_wsgi_application" if _only_asgi(required) else "get_asgi_application"
    for file, made in sorted(made_by, key=lambda one: one[1][2] == last):
        says = f"{file} has `{made[1]} = {made[2]}(...)`"
        yield _Application(*_place(service, file, made[1]), says, made[2] in _WSGI, _root(service, file))
    for source in sources:
        if called := next(source.found(_CALLED), None):
            says = f"{source.file} has `{called[1]} = {called[2]}(...)`"
            place = _place(service, source.file, called[1])
            yield _Application(*place, says, _is_wsgi(source, required), _root(service, source.file))
    for source in sources:
        if factory := next(source.found(_FACTORY), None):
            says = f"{source.file} has `def {factory[1]}(...)`"
            place = _place(service, source.file, factory[1])
            yield _Application(*place, says, _is_wsgi(source, required), _root(service, source.file), factory=True)


def _is_wsgi(source: Source, required: str) -> bool:
    """Whether an application made in this file is a WSGI one.

    The file's imports decide, and where they name no framework the service's requirements.
    """
    imported = {found[1].lower() for found in source.found(_FRAMEWORK)}
    if imported:
        return not imported & _ASGI_FRAMEWORKS
    return re.search(r"(?:^|[\"'])\W*(?:flask|django|bottle)\b", required, re.MULTILINE | re.IGNORECASE) is not None


def _only_asgi(required: str) -> bool:
    """Whether the servers among its requirements are such that call an ASGI application."""
    return re.search(r"gunicorn|waitress|uwsgi", required) is None and (
        re.search(r"uvicorn|hypercorn|daphne|granian", required) is not None
    )


def _files(service: Path) -> list[Path]:
    found = dict.fromkeys(path.relative_to(service) for pattern in _PATTERNS for path in sorted(service.glob(pattern)))
    return [file for file in found if not any(part.startswith((".", *_NOT_SHIPPED)) for part in file.parts)]


def _root(service: Path, file: Path) -> str:
    return "src" if file.parts[0] == "src" and not (service / "src/__init__.py").exists() else ""


def _place(service: Path, file: Path, name: str) -> tuple[str, str]:
    inner = file.relative_to(_root(service, file) or ".")
    return ".".join(inner.with_suffix("").parts).removesuffix(".__init__"), name


def _shipped(service: Path, place: str) -> list[str]:
    """What of the folder holds code, and the folders that applications read from."""
    tops = dict.fromkeys(file.parts[0] for file in _files(service) if len(file.parts) > 1)
    data = [name for name in ("templates", "static") if (service / name).is_dir()]
    loose = ["*.py"] if any(service.glob("*.py")) else []
    return [below(name, place) for name in (*loose, *dict.fromkeys([*tops, *data]))]
