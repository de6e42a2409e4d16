"""Readability of pages: proselint's checks of wording, and a limit on the length of a sentence."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from proselint.checks import __register__
from proselint.config import DEFAULT, Config
from proselint.registry import CheckRegistry
from proselint.tools import LintFile

from tests.tidy.plain import passages

SENTENCE_WORDS = 45
"""A sentence of more words holds more than one idea."""
_OFF = ("typography", "lexical_illusions", "dates_times")
"""Quotes and dots are those of a terminal; tables repeat words; a range of numbers is not a date."""
_BLOCK = re.compile(r"\n[ ]*(?:\n|[*+-] |\d+\. |#|\|.*)")
_SENTENCE = re.compile(r"(?<=[.!?:;])\s+")
_WORD = re.compile(r"[A-Za-z][\w'-]*")


def breaches(paths: Iterable[Path]) -> list[str]:
    """Wordings that proselint refuses and sentences above the limit, as `path:line: complaint`."""
    paths = list(paths)
    return [f"{path}:{line}: {complaint}" for path in paths for line, complaint in (*_wordings(path), *_long(path))]


def _wordings(path: Path) -> Iterator[tuple[int, str]]:
    registry = CheckRegistry()
    if not registry.checks:
        registry.register_many(__register__)
    config: Config = {**DEFAULT, "checks": {**DEFAULT["checks"], **dict.fromkeys(_OFF, False)}}
    for begin, prose in passages(path):
        for found in LintFile(path, prose).lint(config):
            yield begin + found.pos[0] - 1, f"{found.check_result.message} ({found.check_result.check_path})"


def _long(path: Path) -> Iterator[tuple[int, str]]:
    for begin, prose in passages(path):
        at = 0
        for block in _BLOCK.split(prose):
            for sentence in _SENTENCE.split(block):
                words = len(_WORD.findall(sentence))
                if words > SENTENCE_WORDS:
                    line = begin + prose.count("\n", 0, prose.find(sentence, at))
                    yield line, f"a sentence of {words} words, above {SENTENCE_WORDS}: {sentence.strip()[:50]}"
