"""Entries of TechEmpower's Framework Benchmarks: `benchmark_config.json`, and a dockerfile for each of its tests.

Source: the entries and the toolset of its repository, and its requirements of the test types.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from touchstone.failure import UsageError
from touchstone.intake.draft import DraftLoad, DraftRequest, slug
from touchstone.intake.entry import (
    BROKEN,
    DESCRIPTIONS,
    BenchmarkEntry,
    EntryTest,
    EntryVariant,
    SkippedItem,
    read_description,
)

_KNOWN = ("json", "plaintext")
_OF_DATABASE = ("db", "query", "cached_query", "fortune", "update")
_HEADERS = "Server and Date are part of the response, as the benchmark asks"


def read_techempower(folder: Path) -> BenchmarkEntry:
    """Read an entry. Raises UsageError that names the missing part."""
    described = read_description(folder, "techempower")
    groups = described.get("tests")
    implementations: dict[str, Mapping[str, Any]] = {}
    for group in groups if isinstance(groups, list) else []:
        implementations |= {str(name): one for name, one in group.items()} if isinstance(group, dict) else {}
    if not implementations or not all(isinstance(one, dict) for one in implementations.values()):
        where = str(folder / DESCRIPTIONS["techempower"])
        raise UsageError("`tests` names no implementation", where=where, fix=BROKEN)
    framework = str(described.get("framework") or folder.resolve().name)
    variants: list[EntryVariant] = []
    left_out: list[SkippedItem] = []
    for name, one in implementations.items():
        found = _variant(folder, framework, name, one)
        if isinstance(found, EntryVariant):
            variants.append(found)
        else:
            left_out.append(found)
    first = next(iter(implementations.values()))
    return BenchmarkEntry(
        benchmark="TechEmpower",
        folder=folder,
        name=slug(framework),
        title=str(first.get("display_name") or framework),
        language=str(first.get("language") or "unknown"),
        summary=_summary(first),
        variants=variants,
        left_out=[*left_out, *_tests_left_out(implementations)],
        known=_KNOWN,
    )


def _variant(folder: Path, framework: str, name: str, one: Mapping[str, Any]) -> EntryVariant | SkippedItem:
    """An implementation as an image, or why it is none."""
    what = f"the implementation {name}"
    whole = framework if name == "default" else f"{framework}-{name}"
    dockerfile, port = str(one.get("dockerfile") or f"{whole}.dockerfile"), one.get("port")
    if ".." in Path(dockerfile).parts or not (folder / dockerfile).is_file():
        return SkippedItem(what, f"there is no {dockerfile} in its folder")
    if not isinstance(port, int) or not 0 < port < 65536:
        return SkippedItem(what, f"its port is {port!r}")
    if one.get("docker_cmd"):
        return SkippedItem(what, "it is started by a command of its own (`docker_cmd`), and not by its image")
    tests = {test.name: test for test in _tests(one)}
    if not tests:
        return SkippedItem(what, f"it takes part neither in {' nor in '.join(_KNOWN)}")
    title = str(one.get("display_name") or whole)
    return EntryVariant(slug(name), title, dockerfile, port, tests, _args(folder / dockerfile, whole, one))


def _tests(one: Mapping[str, Any]) -> Iterator[EntryTest]:
    fields = {"server": ".+", "date": ".+"}
    if isinstance(url := one.get("json_url"), str):
        request = DraftRequest(
            "json",
            "GET",
            url,
            f"a JSON object with a message is answered; {_HEADERS}",
            content_type="application/json",
            json_values={"message": "Hello, World!"},
            fields=fields,
        )
        yield _test(request, "JSON on 64 connections", {"connections": 64})
    if isinstance(url := one.get("plaintext_url"), str):
        request = DraftRequest(
            "plaintext",
            "GET",
            url,
            f"a text of thirteen bytes is answered; {_HEADERS}",
            content_type="text/plain",
            answer="Hello, World!",
            fields=fields,
        )
        title = "Plain text on 256 connections, 16 requests in flight on each"
        yield _test(request, title, {"connections": 256, "pipeline": 16})


def _test(request: DraftRequest, title: str, settings: Mapping[str, Any]) -> EntryTest:
    # That the fields are there, the contract sees to once: a million looks at a date say no more.
    load = DraftLoad(request.name, title, [replace(request, fields={})], settings=settings)
    return EntryTest(request.name, [request], load)


def _args(dockerfile: Path, whole: str, one: Mapping[str, Any]) -> dict[str, str]:
    """What the benchmark's toolset gives a build, where the dockerfile asks for it."""
    declared = re.findall(r"(?mi)^\s*ARG\s+(\w+)", dockerfile.read_text(encoding="utf-8", errors="replace"))
    given = {"TFB_TEST_NAME": whole, "TFB_TEST_DATABASE": str(one.get("database") or "None").lower()}
    return {name: held for name, held in given.items() if name in declared}


def _summary(one: Mapping[str, Any]) -> str:
    known = {key: str(one[key]) for key in ("classification", "platform", "webserver", "orm") if one.get(key)}
    return ", ".join(f"{key} {held}" for key, held in known.items() if held != "None")


def _tests_left_out(implementations: Mapping[str, Mapping[str, Any]]) -> Iterator[SkippedItem]:
    """The test types that any implementation takes part in and touchstone does not express."""
    asked = {key.removesuffix("_url") for one in implementations.values() for key in one if key.endswith("_url")}
    databases = {
        str(one.get("database")) for one in implementations.values() if one.get("database") not in (None, "None")
    }
    for name in sorted(asked - set(_KNOWN)):
        why = "touchstone does not know it"
        if name in _OF_DATABASE:
            why = f"it needs the benchmark's own database ({', '.join(sorted(databases)) or 'unnamed'}) with its tables"
        yield SkippedItem(f"the test {name}", why)
