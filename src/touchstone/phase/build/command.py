"""Turns a manifest's commands into ones that can be executed."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

from touchstone.failure import UsageError
from touchstone.toolchain.tool import FoundTool

_PLACE = re.compile(r"\{(source|work|cache|base|tool:[a-z0-9-]+)\}")


def fill_build_places(text: str, places: Mapping[str, Path | None], tools: Mapping[str, FoundTool]) -> str:
    """Fill in `{work}`, `{cache}`, `{source}`, `{base}` and `{tool:NAME}`. Raises UsageError for what is not there."""

    def value(match: re.Match[str]) -> str:
        name = match.group(1)
        if name.startswith("tool:"):
            tool = name.removeprefix("tool:")
            if tool not in tools:
                raise UsageError(
                    f"{match.group(0)} stands in a command, but {tool!r} is not in `needs`", fix=f"add {tool} to needs"
                )
            return str(tools[tool].path)
        place = places.get(name)
        if place is None:
            raise UsageError(f"{{{name}}} stands in a command that has no such folder", fix="see docs/add-a-stack.md")
        return str(place)

    return _PLACE.sub(value, text)


def command_line(words: list[str], places: Mapping[str, Path | None], tools: Mapping[str, FoundTool]) -> list[str]:
    """The command with places filled in, and its program made absolute: a tool's path, or a file of the work folder."""
    filled = [fill_build_places(word, places, tools) for word in words]
    program = filled[0]
    work = places.get("work")
    if program in tools:
        filled[0] = str(tools[program].path)
    elif "/" in program and work is not None:
        filled[0] = str(work / program)
    return filled


def build_environment(tools: Mapping[str, FoundTool]) -> dict[str, str]:
    """The user's environment plus what the tools need, with the tools first on the PATH.

    Gradle is to work without a daemon: one that an earlier build has warmed up would shorten the next, cold one.
    """
    env = {"GRADLE_OPTS": "-Dorg.gradle.daemon=false", **os.environ}
    env["PATH"] = os.pathsep.join(dict.fromkeys([*_folders(tools), *env.get("PATH", os.defpath).split(os.pathsep)]))
    for tool in tools.values():
        env |= tool.environment
    return env


def run_environment(tools: Mapping[str, FoundTool]) -> dict[str, str]:
    """A bare environment for a server: nothing of the user's shell may change what is measured.

    The tools' folders come first on its PATH, since scripts find their interpreter there (`#!/usr/bin/env node`).
    """
    path = os.pathsep.join(dict.fromkeys([*_folders(tools), *os.defpath.split(os.pathsep)]))
    env = {"PATH": path, "HOME": "/nonexistent", "LANG": "C.UTF-8", "TZ": "UTC"}
    for tool in tools.values():
        env |= tool.environment
    return env


def _folders(tools: Mapping[str, FoundTool]) -> list[str]:
    return [str(tool.path.parent) for tool in tools.values()]
