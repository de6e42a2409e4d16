"""The lines of a requirements.txt with its includes, and the folders that they name."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from touchstone.intake.service.reading import read_text

_INCLUDES = re.compile(r"(-r|-c|--requirement|--constraint)[ =]*(\S+)")
_COMMENT = re.compile(r"(?:^|\s+)#.*")
_HASHES = re.compile(r"\s+--hash[ =]\S+")
_PATH = re.compile(r"(?:-e|--editable)?[ =]*([^\s\[;]+)(\[[^\]]*\])?")


@dataclass(frozen=True)
class Requirement:
    """A line, without those that include others."""

    text: str
    path: Path | None = None
    """The folder or file that it names instead of a package of an index; the file of a constraint."""
    option: str = ""
    """What stands before the path."""
    extras: str = ""

    def words(self, called: Callable[[Path], str]) -> Sequence[str]:
        """As arguments of pip, by what a path is called. What is in a folder is copied: nothing leads to it later."""
        if self.path:
            return [*([self.option] if self.option else []), f"./{called(self.path)}{self.extras}"]
        # A package that lies in a folder has no hash, and pip asks for all of them or none.
        plain = _HASHES.sub("", self.text)
        return shlex.split(plain) if plain.startswith("-") else [plain]


def requirements(service: Path, file: str) -> tuple[Sequence[Path], Sequence[Requirement]]:
    """The file with those that it includes, and so on, and what stands in them. Raises UsageError."""
    files = [(service / file).resolve()]
    lines: list[Requirement] = []
    constraints: set[Path] = set()
    for one in files:
        for line in _lines(read_text(one)):
            if found := _INCLUDES.match(line):
                path = (one.parent / found[2]).resolve()
                constrains = found[1] in ("-c", "--constraint")
                if path.is_file() and path not in files:
                    files.append(path)
                    constraints |= {path} if constrains or one in constraints else set()
                    lines += [Requirement(line, path, "-c")] if constrains else []
            elif one not in constraints:
                lines.append(_requirement(line, service, one.parent))
    return files, lines


def _lines(held: str) -> Iterator[str]:
    plain = (_COMMENT.sub("", line).strip() for line in held.replace("\\\n", " ").splitlines())
    return (line for line in plain if line)


def _requirement(line: str, service: Path, folder: Path) -> Requirement:
    """A requirement. Paths start at pip's folder, which is the service's, or at their own file's."""
    found = _PATH.match(line)
    if found and ("/" in found[1] or found[1].startswith(".")):
        for start in (service, folder):
            if (path := (start / found[1]).resolve()).exists():
                return Requirement(line, path, extras=found[2] or "")
    return Requirement(line)
