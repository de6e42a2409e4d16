"""A service with a deno.json: its task `start`, and its imports, fetched before the start."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from touchstone.intake.service.base import DraftInstall, DraftStack, Words, below, first_there
from touchstone.intake.service.command import DeployedCommand, command
from touchstone.intake.service.deployed import Deployment
from touchstone.intake.service.reading import read_json, table_at

MARKS = ("deno.json", "deno.jsonc")
_TASKS = ("start", "serve", "dev")
_ENTRIES = ("main.ts", "server.ts", "src/main.ts", "src/server.ts", "mod.ts", "main.js", "server.js")
_STARTS = ("run", "serve")
_WATCHING = re.compile(r"--watch(?:-hmr)?(?:=.*)?")
"""What the task `dev` has and a deployed service has not."""
_SCRIPT = re.compile(r"^(?!-).+\.[cm]?[jt]sx?$")


def draft(service: Path, deployment: Deployment) -> DraftStack:
    """Its stack. Raises UsageError if deno.json cannot be read."""
    mark = first_there(service, MARKS) or MARKS[0]
    found, guessed = _start(service, _tasks(service / mark), deployment.run)
    entry = next((word for word in found.words if _SCRIPT.match(word)), "main.ts")
    top = Path(entry).parts[0]
    fetch = ["deno", "cache", "--config", below(mark), below(entry)]
    return DraftStack(
        language="TypeScript" if Path(entry).suffix in (".ts", ".tsx") else "JavaScript",
        needs={"deno": ">=2"},
        install=DraftInstall([fetch]),
        artifacts=[below(top) if top != entry else below(f"*{Path(entry).suffix}"), below(mark)],
        run=found.words,
        env=found.env,
        guessed=[*guessed, "packages that it imports stay in Deno's own store, and are in no size"],
    )


def _tasks(path: Path) -> Mapping[str, Any]:
    return table_at(read_json(path, comments=True), "tasks")


def _start(
    service: Path, tasks: Mapping[str, Any], from_files: DeployedCommand | None
) -> tuple[DeployedCommand, list[str]]:
    """The command as from the service's folder, and what of it is a guess."""
    if from_files and (words := _started(from_files.words)):
        return replace(from_files, words=words), [f"the command of its {from_files.source}", *from_files.marks()]
    for name in _TASKS:
        task = tasks.get(name, "")
        line = command(str(task.get("command", "") if isinstance(task, dict) else task), f"task `{name}`")
        if line and (words := _started(line.words)):
            return replace(line, words=words), line.marks()
    entry = first_there(service, _ENTRIES) or "main.ts"
    guess = f"no task `start` is a command of its own: is {entry} what starts it?"
    return DeployedCommand(["deno", "run", "--cached-only", "--allow-all", entry], ""), [guess]


def _started(words: Words) -> Words | None:
    """What `deno run` or `deno serve` starts, of what was fetched before; none of another command."""
    if list(words[:1]) != ["deno"] or words[1:2] == [] or words[1] not in _STARTS:
        return None
    rest = [word for word in words[2:] if not _WATCHING.fullmatch(word)]
    listens = words[1] == "serve" and not any("{port}" in word for word in rest)
    address = ["--host", "{host}", "--port", "{port}"] if listens else []
    return ["deno", words[1], "--cached-only", *address, *rest]
