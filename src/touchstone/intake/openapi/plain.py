"""Reads JSON and YAML as plain data: objects, arrays, texts, numbers, truths and null.

YAML is read by the core schema of YAML 1.2 (section 10.3.2), as OpenAPI asks: `NO`, `on`, `2024-05-01` and `12:30:00`
are texts, and so is every key. The text of a number, a truth or a null is kept next to it, for where a text is wanted.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from touchstone.failure import UsageError

LARGEST = 128 * 2**20
"""No document is larger, in bytes: the largest that is known has 40 MB."""
_DEEPEST = 500
"""Levels within one another; documents have some 30."""
_CORE: tuple[tuple[re.Pattern[str], Any], ...] = (
    (re.compile(r"|~|null|Null|NULL"), lambda _: None),
    (re.compile(r"true|True|TRUE"), lambda _: True),
    (re.compile(r"false|False|FALSE"), lambda _: False),
    (re.compile(r"[-+]?[0-9]{1,400}"), int),
    (re.compile(r"0o[0-7]{1,400}"), lambda text: int(text[2:], 8)),
    (re.compile(r"0x[0-9a-fA-F]{1,400}"), lambda text: int(text[2:], 16)),
    (re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?"), float),
)
"""Infinity and not-a-number are not values of JSON, and stay texts."""
_PAIR = re.compile(r"\\u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})")


class PlainObject(dict[str, Any]):
    """An object of a YAML document."""

    __slots__ = ("written",)

    def __init__(self) -> None:
        super().__init__()
        self.written: dict[str, str] = {}
        """By key, the text of a value that is not text."""


class PlainArray(list[Any]):
    """An array of a YAML document."""

    __slots__ = ("written",)

    def __init__(self) -> None:
        super().__init__()
        self.written: dict[int, str] = {}
        """By place, the text of a value that is not text."""


def written(holder: Any, key: str | int) -> str | None:
    """The source text of a non-text value at a key, if known."""
    texts: Mapping[Any, str] = holder.written if isinstance(holder, PlainObject | PlainArray) else {}
    return texts.get(key)


def read_plain(file: Path) -> tuple[Any, list[str]]:
    """What a file of JSON or YAML holds, and what of it was not read. Raises UsageError."""
    try:
        if not file.is_file():
            raise UsageError("there is no such file", where=str(file))
        if file.stat().st_size > LARGEST:
            raise UsageError(
                f"the file is larger than {LARGEST >> 20} MiB", where=str(file), fix="draft from a part of it"
            )
        raw = file.read_bytes()
        text = raw.decode(json.detect_encoding(raw))
    except (OSError, ValueError) as error:
        raise UsageError(f"the file cannot be read: {error}", where=str(file)) from error
    try:
        return plain(text)
    except ValueError as error:
        raise UsageError(f"the file cannot be read: {error}", where=str(file), fix="correct it in that file") from error


def plain(text: str) -> tuple[Any, list[str]]:
    """What a text of JSON or YAML holds, and what of it was not read. Raises ValueError with line and column."""
    is_json = text.lstrip()[:1] in ("{", "[")
    try:
        if is_json:
            return _json(text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    except ValueError as error:
        try:
            return _yaml(text)
        except yaml.YAMLError:
            raise error from None
    try:
        return _yaml(text)
    except yaml.YAMLError as error:
        # YAML knows of no surrogate pairs; JSON, which is to be a part of it, does.
        joined = _PAIR.sub(lambda pair: chr(_joined(pair)), text)
        if joined == text:
            raise ValueError(" ".join(str(error).split())) from error
        return plain(joined)


def _joined(pair: re.Match[str]) -> int:
    return 0x10000 + ((int(pair[1], 16) - 0xD800) << 10) + int(pair[2], 16) - 0xDC00


def _json(text: str) -> tuple[Any, list[str]]:
    twice: dict[str, None] = {}

    def pairs(found: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(found)
        if len(made) < len(found):
            keys = [key for key, _ in found]
            twice.update(dict.fromkeys(key for key in made if keys.count(key) > 1))
        return made

    def refused(constant: str) -> Any:
        raise ValueError(f"{constant} is not a value of JSON")

    held = json.loads(text, object_pairs_hook=pairs, parse_constant=refused)
    return held, _doubled(twice)


def _doubled(keys: dict[str, None]) -> list[str]:
    return [f"the key {key!r} stands twice in an object: the last counts" for key in keys]


@dataclass
class _Open:
    """An object or array that is being read."""

    held: PlainObject | PlainArray
    anchor: str | None
    key: str | None = None
    merged: list[Any] = field(default_factory=list)


def _yaml(text: str) -> tuple[Any, list[str]]:
    builder = _Builder()
    for event in yaml.parse(text, Loader=getattr(yaml, "CBaseLoader", yaml.BaseLoader)):
        builder.take(event)
    return builder.root, [*_doubled(builder.twice), *builder.lost]


class _Builder:
    """Makes data of YAML's events, without recursion: what is nested too deep is an error, not a crash."""

    def __init__(self) -> None:
        self.root: Any = None
        self.twice: dict[str, None] = {}
        self.lost: dict[str, None] = {}
        self._open: list[_Open] = []
        self._anchors: dict[str, tuple[Any, str | None]] = {}
        self._documents = 0

    def take(self, event: Any) -> None:
        match event:
            case yaml.ScalarEvent():
                self._add(*_scalar(event), event.anchor, event)
            case yaml.AliasEvent():
                self._alias(event)
            case yaml.MappingStartEvent() | yaml.SequenceStartEvent():
                if len(self._open) >= _DEEPEST:
                    raise _at(event, "it is nested too deeply")
                held = PlainObject() if isinstance(event, yaml.MappingStartEvent) else PlainArray()
                self._open.append(_Open(held, event.anchor))
            case yaml.MappingEndEvent() | yaml.SequenceEndEvent():
                self._end(event)
            case yaml.DocumentStartEvent():
                self._documents += 1
                if self._documents > 1:
                    raise _at(event, "a second document begins here, and one file is one document")

    def _alias(self, event: Any) -> None:
        if any(frame.anchor == event.anchor for frame in self._open):
            raise _at(event, f"the alias *{event.anchor} is inside the node that it names")
        if event.anchor not in self._anchors:
            raise _at(event, f"there is no anchor &{event.anchor} above")
        self._add(*self._anchors[event.anchor], None, event)

    def _end(self, event: Any) -> None:
        frame = self._open.pop()
        held = frame.held
        if isinstance(held, PlainObject):
            for one in frame.merged:
                for key in one.keys() - held.keys():
                    held[key] = one[key]
                    if (text := written(one, key)) is not None:
                        held.written[key] = text
            _as_texts(held)
        self._add(held, None, frame.anchor, event)

    def _add(self, value: Any, text: str | None, anchor: str | None, event: Any) -> None:
        if anchor is not None:
            self._anchors[anchor] = value, text
        if not self._open:
            self.root = value
            return
        frame = self._open[-1]
        held = frame.held
        if isinstance(held, PlainArray):
            if text is not None:
                held.written[len(held)] = text
            held.append(value)
        elif frame.key is None:
            frame.key = self._key(value, text, event)
        else:
            self._set(frame, held, frame.key, value, text)
            frame.key = None

    def _key(self, value: Any, text: str | None, event: Any) -> str:
        if isinstance(value, dict | list):
            raise _at(event, "a key is an object or an array, and JSON's keys are texts")
        return str(value) if text is None else text

    def _set(self, frame: _Open, held: PlainObject, key: str, value: Any, text: str | None) -> None:
        merged = value if isinstance(value, list) else [value]
        if key == "<<" and all(isinstance(one, dict) for one in merged):
            frame.merged += merged
            return
        if key in held:
            self.twice[key] = None
            held.written.pop(key, None)
        held[key] = value
        if text is not None:
            held.written[key] = text


def _scalar(event: Any) -> tuple[Any, str | None]:
    """The value, and its text if the value is not text."""
    plain_style, _ = event.implicit
    tagged = event.tag in _TAGS
    if not (plain_style or tagged):
        return event.value, None
    text = event.value
    for pattern, made in _CORE:
        if pattern.fullmatch(text):
            return made(text), text
    return text, None


_TAGS = frozenset(f"tag:yaml.org,2002:{name}" for name in ("null", "bool", "int", "float"))
"""A tag but these makes a text of a scalar."""


def _as_texts(held: PlainObject) -> None:
    """Make texts of what a schema says are texts: names in `required`, types, and the values of one that is a text."""
    for key in ("required", "type"):
        if isinstance(names := held.get(key), PlainArray):
            _texts_in(names, nulls=True)
    if held.get("type", "") is None:
        held["type"] = "null"
    stated = held.get("type")
    # A property may be called `type` and be an object.
    types = {one for one in (stated if isinstance(stated, list) else [stated]) if isinstance(one, str)}
    if "string" not in types or types & {"integer", "number", "boolean"}:
        return
    for key in ("example", "default", "const"):
        if (text := held.written.get(key)) is not None and _is_meant(held[key], text):
            held[key] = held.written.pop(key)
    for key in ("enum", "examples"):
        if isinstance(several := held.get(key), PlainArray):
            _texts_in(several)


def _texts_in(array: PlainArray, *, nulls: bool = False) -> None:
    for place, text in list(array.written.items()):
        if nulls or _is_meant(array[place], text):
            array[place] = array.written.pop(place)


def _is_meant(value: Any, text: str) -> bool:
    """Whether the text may be meant: `null` where a text is wanted says that there is none."""
    return value is not None or text == "~"


def _at(event: Any, what: str) -> yaml.YAMLError:
    mark = event.start_mark
    return yaml.YAMLError(f"line {mark.line + 1}, column {mark.column + 1}: {what}")
