"""A service with a Cargo.toml: a package, or a workspace with one that has a program."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from touchstone.intake.service.base import DraftInstall, DraftStack, below
from touchstone.intake.service.deployed import Deployment, with_arguments
from touchstone.intake.service.reading import read_source, read_toml, table_at, tables_at, text_at, texts_at
from touchstone.intake.service.workspace import members, place_in, root_of

MARK = "Cargo.toml"
_TEXT = re.compile(r'"(?:\./)?([\w./-]+)"')
_SETTINGS = "config"
"""The folder that holds them by custom, of which sources may name any file, also without its ending."""
_ENDINGS = (".toml", ".yaml", ".yml", ".json", ".ron")
_CARGO_SETTINGS = (".cargo/config.toml", ".cargo/config")
_SQLX = (".sqlx", "sqlx-data.json")
"""What SQLx checks queries against, as they are compiled, where there is no database."""
_QUERY = re.compile(r"\bquery(?:_as|_scalar|_file|_file_as)?!\(")
_NAMED = r"(?:--bin[= ]|\brelease/|^(?:\S*/)?){}(?![\w.-])"
"""What a Dockerfile builds, copies or starts by a program's name."""
_LISTENS = re.compile(r"\b(?:axum::serve|HttpServer::new|TcpListener::bind|warp::serve|rocket::|Server::b|hyper::)")
_FEATURES = re.compile(r"(?:--(?:no-default-features|all-features|features[= ][\"']?[\w,/-]+[\"']?)\s*)+")
_ROCKETS = "Rocket.toml"
"""What a framework reads that no source names."""


def draft(service: Path, found: Deployment) -> DraftStack:
    """Its stack. Raises UsageError if a Cargo.toml cannot be read."""
    root = root_of(service, _members) or service
    programs = list(dict.fromkeys(_programs(service)))
    built = [line for line in (found.image.commands if found.image else ()) if "cargo" in line]
    mentions = [*built, *(found.image.copied if found.image else ()), *(found.run.words[:1] if found.run else ())]
    named = [one for one in programs if any(re.search(_NAMED.format(re.escape(one[1])), line) for line in mentions)]
    listening = [one for one in programs if one in named[:1] or _listens(service, one[0])]
    programs = [
        *named[:1],
        *(one for one in listening if one not in named),
        *(one for one in programs if one not in listening),
    ]
    package, program = programs[0] if programs else (service.resolve().name, service.resolve().name)
    further = programs[1:] if not named else []
    guessed = [f"there are further programs: {', '.join(name for _, name in further)}"] if further else []
    if not programs:
        guessed = ["no program was found: name its package and its binary"]
    settings, at_top = _settings(service), False
    if not settings and root != service:
        settings = _settings(service, root)
        at_top = bool(settings)
    offline = {"SQLX_OFFLINE": "true"} if any((root / name).exists() for name in _SQLX) else {}
    if not offline and _asks_a_database(service):
        guessed = [
            *guessed,
            "its queries are checked as it is compiled, by a database: make .sqlx by `cargo sqlx prepare`",
        ]
    if settings:
        where = ", from the workspace's top, where it is started" if at_top else ""
        guessed = [*guessed, f"it seems to read {', '.join(settings)}{where}"]
    place = place_in(service, root)
    locked = ["--locked"] if (root / "Cargo.lock").is_file() else []
    # Cargo looks for its settings from the folder in which it is called.
    own = next((name for name in _CARGO_SETTINGS if (root / name).is_file()), None)
    cargo = ["cargo", *(["--config", below(own)] if own else [])]
    manifest = ["--manifest-path", below(MARK)]
    features = next((one[0].split() for one in map(_FEATURES.search, built) if one), [])
    drafted = DraftStack(
        language="Rust",
        needs={"cargo": ">=1.75", "cc": ">=9"},
        install=DraftInstall([[*cargo, "fetch", *locked, *manifest]]),
        build=[
            [*cargo, "build", "--release", "--offline", *locked, *manifest, "-p", package, "--bin", program, *features],
            ["cp", f"{{cache}}/target/release/{program}", "server"],
        ],
        build_env={"CARGO_TARGET_DIR": "{cache}/target", **offline},
        artifacts=["server", *(below(name, "" if at_top else place) for name in settings)],
        run=["./server"],
        name=package,
        place=place,
        at_top=at_top,
        guessed=guessed,
    )
    return with_arguments(drafted, found)


def _asks_a_database(service: Path) -> bool:
    return any(_QUERY.search(read_source(file)) for file in service.glob("**/src/**/*.rs"))


def _listens(service: Path, package: str) -> bool:
    """Whether the sources of a package serve."""
    for folder in (service, *members(service, _members(service))):
        held = read_toml(folder / MARK) if (folder / MARK).is_file() else {}
        if text_at(held, "package", "name") == package:
            return any(_LISTENS.search(read_source(file)) for file in folder.glob("src/**/*.rs"))
    return False


def _programs(service: Path) -> Iterator[tuple[str, str]]:
    """Package and name of each program."""
    for folder in (service, *members(service, _members(service))):
        if not (folder / MARK).is_file():
            continue
        manifest = read_toml(folder / MARK)
        package = text_at(manifest, "package", "name")
        if not package:
            continue
        declared = [name for one in tables_at(manifest, "bin") if (name := text_at(one, "name"))]
        yield from ((package, name) for name in dict.fromkeys([*declared, *_found(folder, package, declared)]))


def _members(folder: Path) -> Sequence[str]:
    """The packages of a folder's workspace, as patterns."""
    workspace = table_at(read_toml(folder / MARK), "workspace") if (folder / MARK).is_file() else {}
    return [*texts_at(workspace, "members"), *(f"!{left_out}" for left_out in texts_at(workspace, "exclude"))]


def _found(folder: Path, package: str, declared: Sequence[str]) -> Iterator[str]:
    """The programs that Cargo takes from their places, without a word in the manifest."""
    if (folder / "src/main.rs").is_file() and not declared:
        yield package
    yield from (path.stem for path in sorted(folder.glob("src/bin/*.rs")))
    yield from (path.parent.name for path in sorted(folder.glob("src/bin/*/main.rs")))


def _settings(service: Path, folder: Path | None = None) -> Sequence[str]:
    """Settings files that the service's sources read at start, by default from its own folder."""
    folder = folder or service
    packages = (service, *members(service, _members(service)))
    named = {_ROCKETS}
    for source in (source for package in packages for source in sorted(package.glob("src/**/*.rs"))):
        named.update(_TEXT.findall(read_source(source)))
    own = {_SETTINGS} if any(Path(name).parts[:1] == (_SETTINGS,) for name in named) else set()
    files = {
        name for name in named if name.endswith(_ENDINGS) and name != MARK and not name.startswith(f"{_SETTINGS}/")
    }
    return sorted(name for name in own | files if ".." not in Path(name).parts and (folder / name).exists())
