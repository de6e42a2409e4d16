"""Plain English: words and openings that prose, docstrings, comments and messages do not use.

The reader is an engineer who skims. A word is refused here if it made sentences that had to be read twice.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterable, Iterator
from pathlib import Path

_AFTER_NO = "longer|more|less|worse|better|different|difference|other|such|time|need|older|graver|doubt"
"""What may follow in a sentence such as `it is no longer measured`."""
_WORDS = {
    r"told": "reported, shown, named, given",
    r"so many": "the number of, how many",
    r"so much": "the amount of, by how much",
    r"anew": "again, newly",
    r"lent": "given",
    r"whoever": "a user who, the caller that",
    r"strangers?": "other process, unknown client",
    r"as ever": "as before",
    r"comes to": "amounts to, is",
    r"what it": "the noun itself",
    rf"(?<!there\s)(?:is|was) no (?!{_AFTER_NO})\w+": "is not a",
}
_REFUSED = re.compile(rf"(?<![\w-])(?:{'|'.join(_WORDS)})(?![\w-])".replace(" ", r"\s+"), re.IGNORECASE)
_OPENING = re.compile(r"(?<!\w)Of\s(?!course\b)")
_BEFORE_A_SENTENCE = tuple(".!?:|*+-")
_SENTENCE_IN_MARKDOWN = re.compile(r"```.*?```|`[^`\n]*`|<!--.*?-->|\]\([^)]*\)|^    .*$", re.DOTALL | re.MULTILINE)
_RUST = re.compile(r'//[/!]?(?P<comment>[^\n]*)|(?P<text>"(?:\\.|[^"\\])*")', re.DOTALL)
_HASH = re.compile(r"(?:^|\s)#(?P<comment>[^\n]*)|(?P<text>\"[^\"\n]*\"|'[^'\n]*')")
_CODE = re.compile(r"`[^`\n]*`")


def breaches(paths: Iterable[Path]) -> list[str]:
    """Refused words in these files, as `path:line: word (better words)`."""
    return [f"{path}:{line}: {word}" for path in paths for line, word in _found(path)]


def _found(path: Path) -> Iterator[tuple[int, str]]:
    for line, prose in passages(path):
        for match in _REFUSED.finditer(prose):
            number = line + prose.count("\n", 0, match.start())
            said = " ".join(match[0].split())
            better = next(better for word, better in _WORDS.items() if re.fullmatch(word, said, re.IGNORECASE))
            yield number, f"{said} ({better})"
        for match in _OPENING.finditer(prose):
            before = prose[: match.start()]
            words = before.rstrip()
            if not words or words.endswith(_BEFORE_A_SENTENCE) or before.count("\n", len(words)) > 1:
                yield line + before.count("\n"), "a sentence that opens with Of"


def passages(path: Path) -> Iterator[tuple[int, str]]:
    """Each piece of prose in a file with the number of its first line; code in backquotes is blank."""
    text = path.read_text(encoding="utf-8", errors="replace")
    match path.suffix:
        case ".md":
            yield 1, _SENTENCE_IN_MARKDOWN.sub(lambda found: "\n" * found[0].count("\n"), text)
        case ".py":
            yield from _of_python(text)
        case ".rs" | ".cpp" | ".h" | ".hpp":
            yield from _joined(_of_pattern(_RUST, text))
        case _:
            yield from _joined(_of_pattern(_HASH, text))


def _of_python(text: str) -> Iterator[tuple[int, str]]:
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Constant(value=str() as value) if " " in value:
                yield node.lineno, _CODE.sub("", value)
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    yield from _joined((token.start[0], token.string.lstrip("#")) for token in tokens if token.type == tokenize.COMMENT)


def _of_pattern(pattern: re.Pattern[str], text: str) -> Iterator[tuple[int, str]]:
    for found in pattern.finditer(text):
        prose = found["comment"] if found["comment"] is not None else found["text"][1:-1]
        if " " in prose:
            yield 1 + text.count("\n", 0, found.start()), prose


def _joined(lines: Iterable[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """Lines that follow each other as one passage: a sentence goes over several lines of comments."""
    begin, passage = 0, ""
    for line, prose in lines:
        if passage and line == begin + passage.count("\n") + 1:
            passage += f"\n{_CODE.sub('', prose)}"
            continue
        if passage:
            yield begin, passage
        begin, passage = line, _CODE.sub("", prose)
    if passage:
        yield begin, passage
