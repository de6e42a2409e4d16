"""The sources that a service is made of: those of its language, without tests, examples, documents and comments."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

from pygments.lexers import get_lexer_by_name
from pygments.token import Comment, String
from pygments.util import ClassNotFound

from touchstone.intake.service.reading import read_source

_OF_C = {".c": "c", ".h": "c", ".cc": "cpp", ".cpp": "cpp", ".cxx": "cpp", ".hpp": "cpp"}
_OF_JVM = {".java": "java", ".kt": "kotlin", ".scala": "scala", ".groovy": "groovy"}
_OF_JS = {".js": "js", ".cjs": "js", ".mjs": "js", ".ts": "ts", ".mts": "ts", ".cts": "ts", ".tsx": "ts", ".jsx": "js"}
_LEXERS = {
    **{"C": _OF_C, "C++": _OF_C, "Go": {".go": "go"}, "Rust": {".rs": "rust"}, "Python": {".py": "python"}},
    **{"Java": _OF_JVM, "Kotlin": _OF_JVM, "JavaScript": _OF_JS, "TypeScript": _OF_JS},
}
"""By a language, the endings of its files, each with Pygments' name of what reads it."""
_SHEBANG = {"JavaScript": "node", "TypeScript": "node", "Python": r"python[\d.]*"}
"""By a language, the program that the first line of a script without an ending names."""
_SETTINGS = re.compile(
    r"(?:application|app|server|service|config|koin)(?:-prod(?:uction)?)?\.(?:properties|conf)|"
    r"application(?:-prod(?:uction)?)?\.ya?ml|schema\.prisma"
)
"""Files of settings that a framework or the service reads, and that name variables of the environment."""
_FOLDERS = re.compile(
    r"\..*|__.*|(?:\w+[-_.])?tests?(?:[-_.].*)?|test(?:data|ing|utils?|helpers?|Fixtures)|(?:\w+Test)|specs?|e2e|cypress|"
    r"playwright|docs?|documentation|bench(?:es|marks?|marking)?|scripts?|examples?|samples?|demos?|tutorials?|"
    r"fixtures?|mocks?|stubs?|fakes?|vendor|third_party|site-packages|migrations|storybook|hac[k]|"
    r"node_modules|target|build|dist|out"
)
"""Folders that hold none of what runs: hidden ones, tests, documents, examples, others' packages, what builds leave."""
_FILES = re.compile(
    r".+_test\.(?:go|py|rs)|test_.+\.py|tests?\.(?:py|rs)|conftest\.py|(?:tasks|fabfile|noxfile|setup|locustfile)\.py|"
    r".+[.-](?:test|spec|stories|e2e)\.[cm]?[jt]sx?|.+\.config\.[cm]?[jt]s|(?:gulp|grunt)file\.js|"
    r".+(?:Tests?|IT|Spec)\.(?:java|kt|scala|groovy)|.+(?:_test|_unittest|Test)\.(?:cc|cpp|cxx|c)",
    re.IGNORECASE,
)
_OF_ITS_OWN = ("pyvenv.cfg", "package.json", "go.mod")
"""What a folder has that is a part by itself: packages of others, a front end, another module."""
_TESTS_WITHIN = re.compile(r"^#\[cfg\(test\)\]\s*(?:pub\s+)?mod\b.*", re.MULTILINE | re.DOTALL)
"""Rust's unit tests, which by custom are the last of a file."""
_IGNORED = re.compile(r"\A(?:\s*//[^\n]*\n)*\s*//\s*(?:go:build|\+build)\s+(?:ignore|tools)\b")
_MOST_FILES = 2_000


@dataclass(frozen=True)
class Source:
    """A file of the service's, by its path within it."""

    file: Path
    raw: str
    lexer: str

    @cached_property
    def code(self) -> str:
        """What a compiler reads: no comments, and no texts that document."""
        try:
            tokens = get_lexer_by_name(self.lexer, stripnl=False).get_tokens(self.raw)
        except ClassNotFound:
            return self.raw
        return "".join(text for kind, text in tokens if not _is_said(kind))

    def found(self, pattern: re.Pattern[str]) -> Iterator[re.Match[str]]:
        """Where its code has this. Few files have it, so that few are read as code."""
        return pattern.finditer(self.code) if pattern.search(self.raw) else iter(())


def _is_said(kind: Any) -> bool:
    """Whether a token is for people. Pygments counts attributes of Rust and directives of C as comments."""
    return (kind in Comment and kind not in Comment.Preproc) or kind in String.Doc


def own_sources(service: Path, language: str, folders: Sequence[str] | None = None) -> Iterator[Source]:
    """The sources in a language. Where the `folders` that a program is compiled of are known, those of these alone."""
    for file in islice(_files(service, folders), _MOST_FILES):
        lexer = _lexer(file, language) or _of_script(service / file, language)
        held = read_source(service / file) if lexer else ""
        if lexer and not is_ignored(held):
            yield Source(file, _TESTS_WITHIN.sub("", held), lexer)


def is_ignored(held: str) -> bool:
    """Whether Go compiles a file into no program: one that makes others, or that names tools."""
    return _IGNORED.match(held) is not None


def _of_script(path: Path, language: str) -> str | None:
    """What reads a script without an ending, such as `bin/www`. None if it is none of that language's."""
    if path.suffix or language not in _SHEBANG:
        return None
    named = re.match(rf"#!.*[/ ]{_SHEBANG[language]}(?:\s|$)", read_source(path, 200))
    return next(iter(_LEXERS[language].values())) if named else None


def _files(service: Path, folders: Sequence[str] | None) -> Iterator[Path]:
    if folders is not None:
        for one in folders:
            yield from sorted(path.relative_to(service) for path in (service / one).iterdir())
        return
    for name, below, files in os.walk(service):
        folder = Path(name)
        below[:] = sorted(one for one in below if _holds_code(folder / one))
        yield from (folder.relative_to(service) / file for file in sorted(files))


def _holds_code(folder: Path) -> bool:
    """Below `src/main` folders are called as packages are, and hold nothing else."""
    if "src/main" in folder.parent.as_posix():
        return not folder.name.startswith(".")
    return not _FOLDERS.fullmatch(folder.name) and not any((folder / mark).exists() for mark in _OF_ITS_OWN)


def _lexer(file: Path, language: str) -> str | None:
    """What reads a file; None if it is none of that language's."""
    if _FILES.fullmatch(file.name):
        return None
    if _SETTINGS.fullmatch(file.name):
        return {".yml": "yaml", ".yaml": "yaml", ".properties": "properties"}.get(file.suffix, "js")
    return _LEXERS[language].get(file.suffix)
