"""Unpacks the recorded runs, judges and renders them, and reads what is expected of them."""

from __future__ import annotations

import io
import json
import lzma
import re
import tarfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from rich.console import Console

from touchstone.judge.judge import judge
from touchstone.judge.judgement import Judgement
from touchstone.record.run import Run
from touchstone.record.store import load_run
from touchstone.report import print_report, render
from touchstone.report.view import View

HERE = Path(__file__).resolve().parent
RUNS = sorted(path.name.removesuffix(".tar.xz") for path in (HERE / "runs").glob("*.tar.xz"))
_LARGE = 40_000
"""Characters from which on an expected text is kept compressed."""


@cache
def recorded_run(name: str) -> Run:
    """One of `RUNS`, read by today's reader."""
    return unpacked(HERE / "runs" / f"{name}.tar.xz")


def unpacked(archive: Path) -> Run:
    """A packed run, read by today's reader."""
    with TemporaryDirectory(prefix="touchstone-golden-") as folder:
        with tarfile.open(archive) as packed:
            packed.extractall(folder, filter="data")
        return load_run(Path(folder))


@cache
def judged(name: str) -> Judgement:
    """The judgement of a recorded run by today's judge."""
    return judge(recorded_run(name))


@cache
def outputs(name: str) -> dict[str, str]:
    """Every output of a recorded run, by file name: the judgement, the terminal's four forms, and the files."""
    run, judgement = recorded_run(name), judged(name)
    with TemporaryDirectory(prefix="touchstone-golden-") as folder:
        found = {path.name: path.read_text(encoding="utf-8") for path in render(View(run, judgement), Path(folder))}
    found["report.html"] = re.sub(r"<(style|script)>.*?</\1>", "", found["report.html"], flags=re.DOTALL)
    found["report.json"] = _without_evidence(found["report.json"])
    rich = Console(file=io.StringIO(), width=140, force_terminal=True, color_system="standard")
    for file, console, how in (
        ("terminal-plain.txt", Console(file=io.StringIO(), width=140), {}),
        ("terminal-details.txt", Console(file=io.StringIO(), width=140), {"details": True}),
        ("terminal-lines.txt", Console(file=io.StringIO(), width=140), {"lines": True}),
        ("terminal-rich.txt", rich, {"details": True}),
    ):
        print_report(console, View(run, judgement), **how)
        assert isinstance(console.file, io.StringIO)
        found[file] = console.file.getvalue()
    return found


def expected(name: str) -> dict[str, str]:
    """What the outputs must be."""
    found = {}
    for path in sorted((HERE / "expected" / name).iterdir()):
        content = path.read_bytes()
        text = lzma.decompress(content) if path.suffix == ".xz" else content
        found[path.name.removesuffix(".xz")] = text.decode()
    return found


def write_expected(name: str) -> None:
    """Make today's outputs the expected ones."""
    folder = HERE / "expected" / name
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.iterdir():
        old.unlink()
    for file, text in outputs(name).items():
        if len(text) > _LARGE:
            (folder / f"{file}.xz").write_bytes(lzma.compress(text.encode(), preset=9))
        else:
            (folder / file).write_text(text, encoding="utf-8")


def pack(folder: Path, into: Path = HERE / "runs", change: Callable[[str], str] = str) -> Path:
    """Add a run: its records, without logs and reports, and without the paths of the machine that it was made on.

    `change` may take from a record what is not to be kept.
    """
    target = into / f"{folder.name}.tar.xz"
    with tarfile.open(target, "w:xz", preset=9) as packed:
        for path in sorted([*folder.glob("*.json"), *(folder / "samples").glob("*.json")]):
            if path.name != "report.json":
                content = _anonymous(change(path.read_text(encoding="utf-8")), folder).encode()
                entry = tarfile.TarInfo(str(path.relative_to(folder)))
                entry.size = len(content)
                packed.addfile(entry, io.BytesIO(content))
    return target


def _anonymous(text: str, folder: Path) -> str:
    places = {
        str(folder.resolve()): f"/lab/results/{folder.name}",
        str(HERE.parents[1]): "/lab",
        str(Path.home()): "/home/lab",
    }
    for place, instead in places.items():
        text = text.replace(place, instead)
    return text


def _without_evidence(text: str) -> str:
    """The judgement whole, and of the samples what is measured and said: how evidence is laid out may change."""
    document: dict[str, Any] = json.loads(text)
    for sample in document["run"]["samples"]:
        for key in [key for key in sample if key not in _KEPT]:
            del sample[key]
    return json.dumps(_said(document), indent=1, sort_keys=True) + "\n"


def _said(value: Any) -> Any:
    """Without what is empty: a new part that a run does not have changes nothing that is said of it."""
    if isinstance(value, dict):
        return {key: said for key, part in value.items() if (said := _said(part)) not in (None, [], {})}
    return [_said(part) for part in value] if isinstance(value, list) else value


_KEPT = {"id", "phase", "contender", "load", "round", "position", "figures", "not_measured", "failure"}
