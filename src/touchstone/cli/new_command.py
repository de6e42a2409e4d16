"""`touchstone new`: creates a scenario or a stack that can run immediately."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from touchstone.cli.schema_command import write_schemas
from touchstone.failure import UsageError, did_you_mean
from touchstone.intake.answers import draft_from_urls
from touchstone.intake.compose.drafting import draft_from_compose
from touchstone.intake.draft import Draft, slug
from touchstone.intake.har.drafting import draft_from_har
from touchstone.intake.proto import draft_from_proto
from touchstone.intake.service.base import DraftStack
from touchstone.intake.service.drafting import draft_service, write_stack
from touchstone.intake.writing import whole_or_nothing
from touchstone.manifest.base import NAME, NAME_IN_WORDS
from touchstone.manifest.catalogue import read_scenario_folder
from touchstone.manifest.files import SCENARIO_FILE, SCENARIO_SCHEMA, STACK_FILE
from touchstone.manifest.reader import read_manifest
from touchstone.manifest.scenario import Scenario
from touchstone.whole_file import write_whole

_STARTERS = Path(__file__).resolve().parents[1] / "starter"
KINDS = sorted(path.parent.name for path in _STARTERS.glob(f"*/{STACK_FILE}"))

_SCENARIO = f"""\
{SCENARIO_SCHEMA}
schema = 1
name = "@NAME@"
title = "@NAME@"
summary = "What the service does, and what is compared."

[ready]                     # the request whose correct response means that the service has started
target = "/ping"
expect = {{ body = "pong" }}

[[contract]]                # what every stack must do before anything is timed
id = "ping"
says = "GET /ping answers pong"
steps = [{{ target = "/ping", expect = {{ body = "pong" }} }}]

[[contract]]
id = "unknown-path"
says = "an unknown path is answered 404"
steps = [{{ target = "/nowhere", expect = {{ status = 404 }} }}]

[loads.ping]                # what is measured
title = "Ping"
connections = 64
requests = [{{ name = "ping", target = "/ping", expect = {{ body = "pong" }} }}]
"""

_MOST_NOTES = 20
_MADE_FIRST = (
    "a freshly started service lacks the data behind its answers: write the data in an earlier step, "
    "and in `prepare` of the load"
)


def new(
    folder: Annotated[Path, typer.Argument(help="The scenario's folder, created if missing.")],
    stack: Annotated[
        str | None, typer.Option(help=f"What the stack is written in: {', '.join(KINDS)}; python if left out.")
    ] = None,
    service: Annotated[
        Path | None,
        typer.Option(
            help="Draft the stack of an existing service, by its package.json, go.mod, Cargo.toml, pom.xml, "
            "build.gradle, CMakeLists.txt, requirements.txt, pyproject.toml, deno.json or jar.",
            exists=True,
            file_okay=False,
        ),
    ] = None,
    name: Annotated[
        str, typer.Option(help="The name of the stack and its folder; by default the name of its kind.")
    ] = "",
    from_openapi: Annotated[
        Path | None,
        typer.Option(help="Draft contract and loads from an OpenAPI 3 or Swagger 2 file.", exists=True),
    ] = None,
    from_har: Annotated[
        Path | None, typer.Option(help="Draft contract and loads from a session that a browser recorded.", exists=True)
    ] = None,
    from_proto: Annotated[
        Path | None,
        typer.Option(
            help="Draft contract and loads from a .proto file or a descriptor set.", exists=True, dir_okay=False
        ),
    ] = None,
    from_url: Annotated[
        list[str] | None,
        typer.Option(
            metavar="URL",
            help="Draft contract and loads from a running service's responses to GET; may be given again. The first "
            "URL shows that the service has started, such as http://127.0.0.1:8080/health.",
        ),
    ] = None,
    from_compose: Annotated[
        Path | None,
        typer.Option(help="Draft scenario, dependencies and stack from a Compose file.", exists=True, dir_okay=False),
    ] = None,
    compose_service: Annotated[
        str | None,
        typer.Option(help="The tested service of the Compose file; by default the one that is built."),
    ] = None,
) -> None:
    """Make a scenario with a working stack, add a stack, or draft one from a file."""
    if stack is not None and service is not None:
        raise UsageError("a stack is either new or drafted from a service", fix="give --stack or --service")
    if stack is not None and stack not in KINDS:
        hint = did_you_mean(stack, KINDS)
        raise UsageError(f"there is no example stack in {stack!r}", fix=f"{hint}there are: {', '.join(KINDS)}")
    if compose_service is not None and from_compose is None:
        raise UsageError("--compose-service names a service of a Compose file", fix="add --from-compose FILE")
    sources = Sources(from_openapi, from_har, from_proto, from_url or [], from_compose)
    draft = _draft(folder, sources)
    composed = None
    if from_compose is not None:
        composed = draft_from_compose(from_compose, compose_service, service)
        draft = composed.draft
        service = composed.folder if composed.stack and stack is None else None
    if draft is not None and stack is None and service is None:
        with whole_or_nothing(folder, SCENARIO_FILE):
            written = draft.write(folder)
            write_schemas(folder)
        typer.echo(written)
        typer.echo("\n".join([*_shown(draft), *([_MADE_FIRST] if from_url else []), *_after_a_scenario(folder)]))
        return
    stack = stack or "python"
    home = _home(folder, name or (slug(composed.service) if composed else "service" if service else stack))
    drafted = (composed and composed.stack) or (None if service is None else draft_service(service))
    invented = draft is None and not (folder / SCENARIO_FILE).exists()
    with whole_or_nothing(folder, SCENARIO_FILE):
        made = [draft.write(folder)] if draft else [_write_scenario(folder)] if invented else []
        scenario = read_manifest(folder / SCENARIO_FILE, Scenario).name
        if service is not None and drafted is not None:
            made.append(write_stack(drafted, service, home, scenario=scenario))
            steps = [*_marks(drafted, home), *_after_a_draft(folder, home, invented=invented)]
        else:
            made += _write_stack(stack, home, {"@NAME@": home.name, "@SCENARIO@": scenario})
            steps = _after_a_starter(folder, home) if draft else []
        write_schemas(folder)
        read_scenario_folder(folder)
    for line in (*made, *(_shown(draft) if draft else []), *steps, f"measure it: touchstone run {folder} --quick"):
        typer.echo(line)


def _shown(draft: Draft) -> list[str]:
    """Return a short summary of what a draft's source contains."""
    notes = draft.concealed().notes
    more = [f"- {len(notes) - _MOST_NOTES} more lines on top of {SCENARIO_FILE}"] if len(notes) > _MOST_NOTES else []
    return [*notes[:_MOST_NOTES], *more]


def _home(folder: Path, called: str) -> Path:
    """Return the folder of the new stack. Raises UsageError for an invalid name or an existing folder."""
    for word in (called, folder.resolve().name):
        if not re.fullmatch(NAME, word):
            raise UsageError(f"{word!r} is not a name of a stack or a scenario", fix=NAME_IN_WORDS)
    home = folder / called
    if home.exists():
        raise UsageError("the stack's folder exists already", where=str(home), fix="name another with --name")
    return home


def _marks(drafted: DraftStack, home: Path) -> list[str]:
    """Print the marked guesses of a draft."""
    marks = [f"  look: {mark}" for mark in drafted.marks()]
    return [*marks, f"  ({home / STACK_FILE} has each as `# look:`)"] if marks else []


def _after_a_draft(folder: Path, home: Path, *, invented: bool) -> list[str]:
    """Next steps after a stack was drafted from a service. `invented` means touchstone drafted the scenario."""
    look = f"look at {home / STACK_FILE}, and see whether it starts: touchstone run {folder} --phase verify"
    example = f"say in {folder / SCENARIO_FILE} its requests and responses: GET /ping is an example"
    asked = f"or draft them while the service runs: touchstone new {folder} --from-url http://127.0.0.1:8080/health"
    return [example, asked, look] if invented else [look]


def _after_a_scenario(folder: Path) -> list[str]:
    """Return the next steps after a scenario was drafted without a stack."""
    if any(folder.glob(f"*/{STACK_FILE}")):
        return [f"edit it, and check that the service keeps it: touchstone run {folder} --phase verify"]
    return [
        f"edit it, and add the service: touchstone new {folder} --service FOLDER",
        f"or start a new one: touchstone new {folder} --stack python",
    ]


def _after_a_starter(folder: Path, home: Path) -> list[str]:
    """Return the next steps after a scenario was drafted with a starter stack."""
    return [
        f"write the service in {home}: the example there answers only GET /ping",
        f"to use an existing service: touchstone new {folder} --service FOLDER",
    ]


@dataclass(frozen=True)
class Sources:
    """Sources from which a scenario can be drafted."""

    openapi: Path | None
    har: Path | None
    proto: Path | None
    url: Sequence[str]
    compose: Path | None


def _draft(folder: Path, sources: Sources) -> Draft | None:
    """Draft a scenario from a source other than Compose. None if no source is given. Raises UsageError."""
    given = [name for name, one in vars(sources).items() if one]
    if len(given) > 1:
        names = [f"--from-{name}" for name in vars(sources)]
        fix = f"give {', '.join(names[:-1])} or {names[-1]}"
        raise UsageError("a scenario is drafted from one file, or from one service", fix=fix)
    if given and (folder / SCENARIO_FILE).exists() and not _is_example(folder):
        raise UsageError(
            "there is already a scenario, and it differs from the drafted example",
            where=str(folder / SCENARIO_FILE),
            fix="name another folder and copy what you want from it, or move this file away: the stacks are kept",
        )
    if sources.openapi is not None:
        # Its validators take a quarter of a second to import.
        from touchstone.intake.openapi.drafting import draft_from_openapi  # noqa: PLC0415

        return draft_from_openapi(sources.openapi)
    if sources.har is not None:
        return draft_from_har(sources.har)
    if sources.proto is not None:
        return draft_from_proto(sources.proto, folder)
    return draft_from_urls(sources.url) if sources.url else None


def _example(folder: Path) -> str:
    """Return the example scenario for an empty folder."""
    return _SCENARIO.replace("@NAME@", folder.resolve().name)


def _is_example(folder: Path) -> bool:
    """Whether the folder's scenario is the unchanged example, which may be overwritten."""
    line = f"{SCENARIO_SCHEMA}\n".encode()
    held = (folder / SCENARIO_FILE).read_bytes()
    return held.removeprefix(line) == _example(folder).encode().removeprefix(line)


def _write_scenario(folder: Path) -> Path:
    target = folder / SCENARIO_FILE
    write_whole(target, _example(folder))
    return target


def _write_stack(kind: str, home: Path, words: dict[str, str]) -> list[Path]:
    made = []
    for source in sorted((_STARTERS / kind).rglob("*")):
        if not source.is_file() or "__pycache__" in source.parts:
            continue
        text = source.read_text(encoding="utf-8")
        for word, value in words.items():
            text = text.replace(word, value)
        target = home / source.relative_to(_STARTERS / kind)
        write_whole(target, text)
        made.append(target)
    return made


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("new")(new)
