"""The files, tools and commands of a stack."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from packaging.specifiers import InvalidSpecifier, SpecifierSet

from touchstone.check.problem import Problem
from touchstone.check.requests import Place
from touchstone.manifest.catalogue import Contender
from touchstone.manifest.files import STACK_FILE
from touchstone.manifest.scenario import GIVEN, GRPC_PORT, Scenario
from touchstone.manifest.sources import files_like, source_files
from touchstone.manifest.stack import Install, Stack, Variant
from touchstone.toolchain.registry import TOOLS, known_tools

_TOOL = re.compile(r"\{tool:([^}]*)\}")
_CAPITALS = re.compile(rf"\{{(?:{'|'.join((*GIVEN, GRPC_PORT))})\}}")
_VARIABLE = re.compile(r"\$\{?[A-Z_][A-Z0-9_]*\}?")
_ADDRESS = re.compile(r"\{(?:host|port)\}")
_FOOTPRINT = ("jre", "certificates", "zoneinfo")


def check_stack(stack: Stack, scenario: Scenario) -> Iterator[Problem]:
    """What is wrong with a stack.toml that fits its type."""
    file = stack.folder / STACK_FILE
    yield from _needs(file, ("needs",), stack.needs)
    yield from _sources(file, stack)
    if stack.install is not None:
        yield from _install(file, ("install",), stack, stack.install, set(stack.needs))
    for name, variant in stack.variants.items():
        yield from _variant(file, stack, name, variant, scenario)


def _needs(file: Path, key: Place, needs: dict[str, str]) -> Iterator[Problem]:
    for name, wanted in needs.items():
        if name not in TOOLS:
            yield Problem(file, (*key, name), f"there is no tool {name!r}", known_tools(name))
        try:
            SpecifierSet(wanted.replace(" ", ""))
        except InvalidSpecifier:
            yield Problem(
                file, (*key, name), f"{wanted!r} is not a version range", "write it like '>=1.24' or '>=25,<26'"
            )


def _sources(file: Path, stack: Stack) -> Iterator[Problem]:
    for number, pattern in enumerate(stack.sources):
        if why := _finds_nothing(stack, pattern):
            yield Problem(file, ("sources", number), why, "correct the pattern, or leave it out")
    for name, relative in stack.extra_sources.items():
        if not (stack.folder / relative).is_dir():
            yield Problem(file, ("extra_sources", name), f"there is no folder {relative}", "correct the path")


def _finds_nothing(stack: Stack, pattern: str) -> str | None:
    try:
        return None if files_like(stack, pattern) else f"no file is like {pattern!r}"
    except (ValueError, NotImplementedError, IndexError, OSError) as error:
        return f"{pattern!r} is not a pattern of files: {error}"


def _install(file: Path, key: Place, stack: Stack, install: Install, tools: set[str]) -> Iterator[Problem]:
    for number, pattern in enumerate(install.files):
        if why := _finds_nothing(stack, pattern):
            yield Problem(file, (*key, "files", number), why, "make the lock file, or correct the name")
    for number, words in enumerate(install.commands):
        yield from _command(file, (*key, "commands", number), words, tools, based=False)


def _variant(file: Path, stack: Stack, name: str, own: Variant, scenario: Scenario) -> Iterator[Problem]:
    contender = Contender(stack, name)
    whole, tools, key = contender.variant, set(contender.needs), ("variants", name)
    yield from _needs(file, (*key, "needs"), own.needs)
    if own.install is not None:
        yield from _install(file, (*key, "install"), stack, own.install, tools)
    for number, words in enumerate(own.build):
        yield from _command(file, (*key, "build", number), words, tools, based=own.base is not None)
    for place, command in (("run", own.run), ("train", own.train)):
        if command is not None:
            yield from _program(file, (*key, place), command, whole, tools)
            yield from _places(file, (*key, place), command, tools, based=own.base is not None)
            yield from _address(file, (*key, place), command)
    yield from _run_in(file, (*key, "run_in"), stack, own)
    yield from _environment(file, key, own, scenario, (*GIVEN, GRPC_PORT) if whole.grpc_port else GIVEN)
    if own.image is not None and own.image.dockerfile is not None:
        yield from _dockerfile(file, (*key, "image", "dockerfile"), stack, Path(own.image.dockerfile))
    for number, path in enumerate(own.extra_configuration):
        if not (stack.folder / path).is_file():
            yield Problem(file, (*key, "extra_configuration", number), f"there is no file {path}", "correct the name")
    for number, word in enumerate(own.footprint):
        if word.startswith("/") and not Path(word).exists():
            yield Problem(
                file, (*key, "footprint", number), f"there is no file {word}", "install it, or correct the path"
            )
        elif not word.startswith(("/", "module:", "library:")) and word not in _FOOTPRINT:
            known = ", ".join([*_FOOTPRINT, "module:NAME", "library:NAME", "/a/file"])
            yield Problem(file, (*key, "footprint", number), f"{word!r} is not known", f"write one of: {known}")


def _run_in(file: Path, key: Place, stack: Stack, own: Variant) -> Iterator[Problem]:
    """A folder that no build makes must be among the sources."""
    if own.run_in is None or own.build or own.base is not None:
        return
    first, *rest = Path(own.run_in).parts
    place = stack.folder / stack.extra_sources.get(first, first) / Path(*rest)
    if not place.is_dir():
        yield Problem(file, key, f"there is no folder {own.run_in}", "correct its path within the work folder")


def _dockerfile(file: Path, key: Place, stack: Stack, path: Path) -> Iterator[Problem]:
    first, *rest = path.parts
    elsewhere = stack.extra_sources.get(first)
    place = stack.folder / path if elsewhere is None else stack.folder / elsewhere / Path(*rest)
    if not place.is_file():
        yield Problem(file, key, f"there is no file {path}", "correct its path in the stack's folder")
    elif elsewhere is None and not any(place == path for path, _ in source_files(stack)):
        yield Problem(file, key, f"{path} is not among the `sources`", "add it there")


def _environment(file: Path, key: Place, own: Variant, scenario: Scenario, by_lab: Sequence[str]) -> Iterator[Problem]:
    """A variable that something else overrides would be ignored without a word."""
    given = dict.fromkeys(scenario.settings, "the scenario's settings give")
    for name, spec in scenario.dependencies.items():
        given |= dict.fromkeys(spec.gives, f"dependency {name} gives")
    given |= dict.fromkeys((*by_lab, "TLS_CERT", "TLS_KEY"), "touchstone gives")
    for name, value in own.env.items():
        if name in given:
            yield Problem(file, (*key, "env", name), f"{given[name]} {name}, equal for all", "leave it out here")
        yield from _address(file, (*key, "env", name), [value])


def _address(file: Path, key: Place, words: list[str]) -> Iterator[Problem]:
    """A shell's way to name the address reaches the service as it stands."""
    shell = len(words) > 1 and words[1] == "-c"
    for word in words:
        if named := _CAPITALS.search(word):
            yield Problem(file, key, f"{named.group()} is not a place", f"write {named.group().lower()}")
        if (named := _VARIABLE.search(word)) and not shell:
            hint = 'write {host} and {port}; or have a shell fill it in: ["/bin/sh", "-c", "exec ..."]'
            yield Problem(file, key, f"{word!r} is not read by a shell, and so {named.group()} stays as it is", hint)


def _program(file: Path, key: Place, words: list[str], variant: Variant, tools: set[str]) -> Iterator[Problem]:
    """The first word of a command that starts the service: a tool, or something that is shipped."""
    program = words[0]
    if program in tools or program.startswith("{tool:"):
        return
    if program.startswith("/"):
        if not Path(program).is_file():
            yield Problem(file, key, f"there is no program {program}", "correct the path")
        return
    if "/" not in program:
        hint = f"add {program} to needs" if program in TOOLS else _whereabouts(program, variant.artifacts)
        yield Problem(file, key, f"{program!r} is neither a tool in `needs` nor a path", hint)
        return
    within = program.replace("{work}/", "").removeprefix("./")
    if not _is_shipped(within, variant.artifacts):
        shipped = ", ".join(variant.artifacts) or "none"
        hint = f"add {within!r} to `artifacts`, whose paths begin in the work folder"
        yield Problem(file, key, f"{program!r} is not among the artifacts ({shipped})", hint)


def _whereabouts(program: str, artifacts: list[str]) -> str:
    """How to name a program that is found by no PATH: what the system has, such as a shell, is most likely meant."""
    own = _own_place(program, artifacts)
    system = shutil.which(program, path=os.defpath)
    return f"write {system}, or {own}" if system else f"write {own}"


def _own_place(program: str, artifacts: list[str]) -> str:
    """Where a program that is shipped most likely lies."""
    installed = next((word.removesuffix("/**") for word in artifacts if Path(word).parts[0] == ".venv"), None)
    if installed is not None:
        return f"{installed}/bin/{program} if it is installed there"
    if any(Path(word).parts[0] == "node_modules" for word in artifacts):
        return f"node_modules/.bin/{program} if it is installed there"
    return f"./{program} if it is built"


def _is_shipped(path: str, artifacts: list[str]) -> bool:
    for word in artifacts:
        plain = str(Path(word.removesuffix("/**")))
        if path == plain or Path(plain) in Path(path).parents or fnmatchcase(path, plain):
            return True
    return False


def _command(file: Path, key: Place, words: list[str], tools: set[str], *, based: bool) -> Iterator[Problem]:
    """A command of a build or an installation: its program must be a tool, a path, or what every system has."""
    program = words[0]
    if program not in tools and "/" not in program and "{" not in program and shutil.which(program) is None:
        hint = f"add {program} to needs" if program in TOOLS else known_tools(program)
        yield Problem(file, key, f"there is no program {program!r}", hint)
    yield from _places(file, key, words, tools, based=based)
    for word in words:
        if named := _ADDRESS.search(word):
            yield Problem(file, key, f"{named.group()} is known when the service starts, not here", "write it in `run`")


def _places(file: Path, key: Place, words: list[str], tools: set[str], *, based: bool) -> Iterator[Problem]:
    for word in words:
        for name in _TOOL.findall(word):
            if name not in tools:
                yield Problem(file, key, f"{{tool:{name}}} is not in `needs`", f"add {name} to needs")
        if "{base}" in word and not based:
            yield Problem(file, key, "{base} stands in a variant that has no base", "name a base, or write {work}")
