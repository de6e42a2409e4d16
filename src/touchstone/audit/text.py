"""A file's bytes as clean text, and the JSON documents within it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
"""Colours and movements of a terminal (ECMA-48), and the titles that it is given."""
_JSON = re.compile(r"^[ \t]*(?=\{|\[\s*[\[{])", re.MULTILINE)
"""Where a document may begin; `[200] 12 responses` is none."""
_POINT = re.compile(r"(?<![\w.,])\d+\.\d+(?![\w.,]*[.,]\d)")
_COMMA = re.compile(r"(?<![\w.,])(?:\d{1,3}(?:\.\d{3})+|\d+),\d+(?![.,]?\d)")
_GROUPED = re.compile(r"(?<![\w.,])\d{1,3}(?:,\d{3})+(?![\d,])")
_TOTALLY_GROUPED = re.compile(r"\d{1,3}(?:,\d{3})+")
_GROUPED_BY_POINTS = re.compile(r"(?<![\w.,/:@])\d{1,3}(?:\.\d{3})+(?![\d,.])")
_CONTROL = re.compile(rb"[\x00-\x06\x0e-\x1a\x1c-\x1f]")


def decoded(data: bytes) -> str:
    """The text, decoded from UTF-8, UTF-16, UTF-32 or Windows-1252, with or without byte order mark.

    PowerShell writes UTF-16 where a program's output is sent to a file. Raises UnicodeDecodeError for what is not text.
    """
    encoding = json.detect_encoding(data)
    if encoding.startswith("utf-8") and (found := _CONTROL.search(data)):
        raise UnicodeDecodeError(encoding, data, *found.span(), "a control character")
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError:
        if encoding != "utf-8":
            raise
        text = data.decode("cp1252", errors="replace")
    return text.removeprefix("\ufeff")


def cleaned(text: str) -> str:
    """The text without a terminal's colours, and with plain line ends."""
    text = _ESCAPES.sub("", text) if "\x1b" in text else text
    text = text.replace("\a", "").replace("\b", "")
    text = text.replace("\r\n", "\n") if "\n" in text else text.replace("\r", "\n")
    # What a terminal shows of a progress line is what stands behind its last carriage return.
    return re.sub(r"^[^\n]*\r(?!$)", "", text, flags=re.MULTILINE).replace("\r", "\n")


def with_points(text: str) -> str:
    """The text with decimal points and without thousands separators, whatever locale wrote it."""
    commas = [found for found in _COMMA.findall(text) if not _TOTALLY_GROUPED.fullmatch(found)]
    if len(commas) > len(_POINT.findall(text)):
        text = _GROUPED_BY_POINTS.sub(lambda found: found[0].replace(".", ""), text)
        return _COMMA.sub(lambda found: found[0].replace(".", "").replace(",", "."), text)
    return _GROUPED.sub(lambda found: found[0].replace(",", ""), text)


def parts(text: str) -> Iterator[Any]:
    """The JSON documents of a text and the texts between them, in their order.

    A tool may print lines before its document, and several documents may follow each other.

    Raises:
        json.JSONDecodeError: the text begins with a document that is not whole.
        ValueError, RecursionError: a document has a number or a depth that Python refuses to read.

    """
    decoder = json.JSONDecoder()
    at = before = 0
    while found := _JSON.search(text, at):
        try:
            document, end = decoder.raw_decode(text, found.end())
        except json.JSONDecodeError:
            if not text[: found.end()].strip():
                raise
            at = found.end() + 1
            continue
        if between := text[before : found.start()].strip():
            yield between
        yield document
        at = before = end
    if rest := text[before:].strip("\n"):
        yield rest
