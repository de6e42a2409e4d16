"""Whatever stands in a file: it is read, or refused in a sentence. Never a traceback."""

from __future__ import annotations

import io
import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from tests.audit.files import arena, benchmarker, techempower
from tests.audit.test_recorded import RECORDED
from touchstone.audit.audit import audit
from touchstone.audit.read import read_publication
from touchstone.cli.audit_command import document, show
from touchstone.failure import TouchstoneError

RANKED = [
    [arena()],
    {"framework": "a", "results": {"json": arena(), "api": arena(cpu="x")}},
    techempower(),
    benchmarker(),
]
FILES = [path.read_bytes() for path in sorted(RECORDED.rglob("*")) if path.is_file()]
FILES += [json.dumps(document).encode() for document in RANKED]
DOCUMENTS = [json.loads(text) for text in FILES if text[:1] in b"{[" and text.count(b"\n{") == 0]
ODD: list[Any] = [None, 0, -1, 1.5, 1e308, float("inf"), float("nan"), 2**70, "", "x", "-", "0", "1,5", "NaN", [], {},
                  True, [1], [None], {"a": 1}, {"": 0}, "2026-01-01", "p(0)", "\ud800"]  # fmt: skip
WORDS = [b"", b"0", b"-1", b"nan", b"1e999", b"9" * 400, b"\n", b"\r", b"\t", b",", b";", b'"', b"{", b"}", b"[",
         b"\x00", b"\xff", b"\xef\xbb\xbf", b"\x1b[31m", b"%", b" ms", b"us", b"k", b"99%", b"Running 1s test @ x\n",
         b"Summary:\n  Slowest:", b"Concurrency Level: x", b"0 threads and 0 connections"]  # fmt: skip


def look_at(folder: Path, data: bytes) -> None:
    path = folder / "result"
    path.write_bytes(data)
    try:
        made = audit(read_publication(path))
        show(Console(file=io.StringIO()), made, None)
        json.loads(document(made, None), parse_constant=pytest.fail)
    except TouchstoneError as error:
        assert str(error)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("fuzz")


def texts() -> st.SearchStrategy[bytes]:
    @st.composite
    def made(draw: st.DrawFn) -> bytes:
        data = draw(st.sampled_from(FILES))
        for _ in range(draw(st.integers(1, 4))):
            at, length = draw(st.integers(0, len(data))), draw(st.sampled_from([0, 0, 1, 3, 40, 10_000]))
            data = data[:at] + draw(st.sampled_from(WORDS) | st.binary(max_size=6)) + data[at + length :]
        return data if draw(st.booleans()) else data + draw(st.sampled_from(FILES))

    return made()


@st.composite
def documents(draw: st.DrawFn) -> bytes:
    """A document with something deep within replaced or removed, at up to three places."""
    found = json.loads(json.dumps(draw(st.sampled_from(DOCUMENTS))))
    for _ in range(draw(st.integers(1, 3))):
        node = found
        for _ in range(draw(st.integers(0, 5))):
            keys: list[Any] = list(node) if isinstance(node, dict) else list(range(len(node)))
            if not keys:
                break
            key = draw(st.sampled_from(keys))
            if isinstance(node[key], dict | list) and draw(st.booleans()):
                node = node[key]
            elif draw(st.booleans()):
                node[key] = deepcopy(draw(st.sampled_from(ODD)))
            else:
                del node[key]
    return json.dumps(found).encode()


@settings(max_examples=150)
@given(data=texts() | documents())
def test_no_file_of_another_tool_makes_a_traceback(folder: Path, data: bytes) -> None:
    look_at(folder, data)


@pytest.mark.slow
@settings(max_examples=10_000)
@given(data=texts() | documents())
def test_no_file_of_ten_thousand_makes_a_traceback(folder: Path, data: bytes) -> None:
    look_at(folder, data)
