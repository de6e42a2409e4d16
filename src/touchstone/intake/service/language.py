"""Which of the languages in a service's folder is the one that is served: a front end has a package.json as well."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path, PurePath

from touchstone.failure import UsageError
from touchstone.intake.service import cmake, deno, go, gradle, jvm, node, node_workspace, python, python_packages, rust
from touchstone.intake.service.base import DraftStack
from touchstone.intake.service.deployed import Deployment
from touchstone.intake.service.reading import read_source
from touchstone.intake.service.servers import SERVERS

Draft = Callable[[Path, Deployment], DraftStack]
_KINDS: dict[str, tuple[Sequence[str], Draft]] = {
    "Go": ((go.MARK,), go.draft),
    "Rust": ((rust.MARK,), rust.draft),
    "Maven": ((jvm.MARK,), jvm.draft),
    "Gradle": (gradle.MARKS, gradle.draft),
    "Deno": (deno.MARKS, deno.draft),
    "Node.js": ((node_workspace.MARK,), node.draft),
    "Python": (python_packages.MARKS, python.draft),
    "CMake": ((cmake.MARK,), cmake.draft),
}
"""By what they are called, in the order of belief where several have a server: the marks, and what drafts them."""
_NOT_DRAFTED = {
    "Ruby": ("Gemfile", "config.ru", "*.gemspec"),
    "PHP": ("composer.json", "artisan", "index.php"),
    ".NET": ("*.sln", "*.slnx", "*.csproj", "*.fsproj", "src/*/*.csproj", "*/*.csproj"),
    "Elixir": ("mix.exs",),
    "Erlang": ("rebar.config",),
    "Scala": ("build.sbt", "build.sc"),
    "Clojure": ("project.clj", "deps.edn"),
    "Haskell": ("stack.yaml", "*.cabal"),
    "Swift": ("Package.swift",),
    "Zig": ("build.zig",),
    "Dart": ("pubspec.yaml",),
    "Crystal": ("shard.yml",),
    "Perl": ("cpanfile",),
    "OCaml": ("dune-project",),
}
_PROGRAMS = {
    "Node.js": r"node|nodejs|npm|npx|yarn|pnpm|bun|bunx|pm2|pm2-runtime|tsx|ts-node|next|nest|nuxt|nodemon",
    "Deno": r"deno",
    "Python": rf"python[\d.]*|{'|'.join(SERVERS)}|waitress-serve|uwsgi|celery|django-admin|streamlit",
    "Java": r"java",
    "Ruby": r"ruby|bundle|rails|puma|unicorn|rackup|thrust",
    "PHP": r"php|php-fpm|apache2-foreground|frankenphp|artisan|rr",
    ".NET": r"dotnet",
    "Elixir": r"mix|elixir|iex",
}
"""What starts a service that is written so."""
_BASES = {
    "Node.js": r"node|bun|.*/node(?:js)?(?:-\d+)?",
    "Deno": r"deno",
    "Python": r"python|.*/python(?:-?\d.*)?|.*uvicorn-gunicorn.*|pypy|uv",
    "Ruby": r"ruby",
    "PHP": r"php|php-fpm|frankenphp",
    ".NET": r"aspnet|runtime|sdk",
    "Elixir": r"elixir",
}
"""The images that one begins with, by the last part of their names."""
_MADE_BY = {
    "Go": r"\bgo (?:build|install)\b",
    "Rust": r"\bcargo (?:build|install|chef)\b",
    "CMake": r"\bcmake\b",
    "Maven": r"\bmvnw?\b",
    "Gradle": r"\bgradlew?\b",
}
"""What is run to make the image of one."""
_SERVES = re.compile(
    r"""["'](?:express|fastify|koa|@nestjs/core|@hapi/hapi|hapi|restify|hono|@hono/node-server|next|nuxt|polka|sails|"""
    r"""@adonisjs/core|@feathersjs/feathers|@apollo/server|apollo-server|graphql-yoga|socket\.io|elysia|@sveltejs/kit|"""
    r"""@remix-run/serve|@remix-run/express|strapi|@strapi/strapi|moleculer-web|loopback|h3|nitropack)["']\s*:"""
)
"""Packages that serve, in a package.json; one without them, and without a script `start`, is of a page."""
_START = re.compile(
    r'"start"\s*:\s*"(?![^"]*(?:react-scripts|vite|\bng |webpack|parcel|gulp|watch|http-server|\bserve\b|expo|story))'
)
_LEFT = frozenset(("node_modules", "vendor", "target", "build", "dist", "bench", "docs", "examples", "tests", "test"))


def draft_by_language(service: Path, found: Deployment) -> DraftStack:
    """The stack of what is served. Raises UsageError if nothing tells what that is, or if it is not drafted."""
    there = [name for name, (marks, _) in _KINDS.items() if _has(service, marks)]
    others = [name for name, marks in _NOT_DRAFTED.items() if _has(service, marks)]
    run = _of_run(found, there)
    if run in _NOT_DRAFTED:
        raise _not_drafted(service, run)
    if others and not [name for name in there if name == run or _serves(service, name)]:
        raise _not_drafted(service, others[0])
    serving = [name for name in there if name == run or _serves(service, name)] or there
    if not serving:
        return _jar_or_nothing(service)
    chosen = run if run in serving else serving[0]
    drafted = _KINDS[chosen][1](service, found)
    others = [name for name in serving if name not in (chosen, "CMake")] if chosen != run else []
    doubt = [f"{', '.join(others)} may be what is served as well: is {chosen} what is deployed?"] if others else []
    return replace(drafted, guessed=[*drafted.guessed, *doubt])


def has_marks(folder: Path) -> bool:
    """Whether a folder has the file of a build tool of which a stack is drafted."""
    return any(_has(folder, marks) for marks, _ in _KINDS.values())


def _has(service: Path, marks: Sequence[str]) -> bool:
    return any(next(service.glob(mark), None) for mark in marks)


def _of_run(found: Deployment, there: Sequence[str]) -> str:
    """The language of the command that starts it, or of what its image is made by. Empty if neither tells."""
    lines = found.image.commands if found.image else ()
    if found.run is not None:
        program = PurePath(found.run.words[0]).name
        by_program = next((name for name, programs in _PROGRAMS.items() if re.fullmatch(programs, program)), "")
        if by_program == "Java" and not any(re.search(_MADE_BY["Gradle"], line) for line in lines):
            return next((name for name in ("Maven", "Gradle") if name in there), "")
        if by_program and by_program != "Java":
            return by_program
    made = next((name for name, made in _MADE_BY.items() if any(re.search(made, line) for line in lines)), "")
    return made or _of_base(found.image.bases[-1] if found.image and found.image.bases else "")


def _of_base(image: str) -> str:
    """The language of an image by its name, such as `docker.io/library/python:3.13-slim`."""
    last = image.partition("@")[0].rpartition("/")[2].partition(":")[0]
    return next((name for name, bases in _BASES.items() if re.fullmatch(bases, last)), "")


def _serves(service: Path, name: str) -> bool:
    """Whether a part of the repository may be the service. Pages and tool settings are not."""
    if name == "Node.js":
        held = read_source(service / node_workspace.MARK)
        return _SERVES.search(held) is not None or (_START.search(held) is not None)
    if name == "Python":
        return python.serves(service)
    return True


def _not_drafted(service: Path, language: str) -> UsageError:
    image = "; its image is a contender as it is: `image = { dockerfile = ... }` (docs/container-images.md)"
    return UsageError(
        f"this service is written in {language}, of which no stack is drafted",
        where=str(service),
        fix=f"write its stack.toml (docs/add-a-stack.md){image}",
    )


def _jar_or_nothing(service: Path) -> DraftStack:
    """The stack of a jar that lies there. Raises UsageError if there is none, or several."""
    if jar := jvm.prebuilt(service):
        return jvm.draft_prebuilt(jar)
    marks = [mark for marks, _ in _KINDS.values() for mark in marks]
    below = sorted({path.parent for mark in marks for path in service.glob(f"*/{mark}") if _may_be(path, service)})
    named = ", ".join(f"--service {path}" for path in below)
    raise UsageError(
        f"nothing says how this service is built: there is none of {', '.join(marks)}, and no single jar",
        where=str(service),
        fix=f"name the folder that has one{f': {named}' if named else ''}, or write its stack.toml "
        "(docs/add-a-stack.md); a Dockerfile is an image (docs/container-images.md)",
    )


def _may_be(path: Path, service: Path) -> bool:
    parts = path.relative_to(service).parts
    return not any(part in _LEFT or part.startswith(".") for part in parts[:-1])
