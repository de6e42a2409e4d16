"""Files of rows as editors and spreadsheets write them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from touchstone.failure import UsageError
from touchstone.manifest.reader import read_manifest
from touchstone.manifest.rows import read_rows
from touchstone.manifest.stack import Stack


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
@pytest.mark.parametrize(("name", "text"), [("terms.jsonl", '{"term":"älpha"}'), ("terms.csv", "term\nälpha")])
def test_a_byte_order_mark_is_no_part_of_the_first_name(
    tmp_path: Path, name: str, text: str, encoding: str, end: str
) -> None:
    path = tmp_path / name
    path.write_bytes((text + "\n").replace("\n", end).encode(encoding))
    rows = read_rows(path)
    assert (rows.columns, rows.first) == (("term",), {"term": "älpha"})


@pytest.mark.parametrize("encoding", ["utf-16", "latin-1"])
def test_another_encoding_is_named(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "terms.csv"
    path.write_bytes("term\nälpha\n".encode(encoding))
    with pytest.raises(ValueError, match=r"not UTF-8.*save it as UTF-8"):
        read_rows(path)
    manifest = tmp_path / "stack.toml"
    manifest.write_bytes('name = "älpha"\n'.encode(encoding))
    with pytest.raises(UsageError, match=r"not UTF-8.*\n.*save it as UTF-8"):
        read_manifest(manifest, Stack)


def test_a_manifest_with_a_byte_order_mark_is_read(tmp_path: Path) -> None:
    manifest = tmp_path / "stack.toml"
    manifest.write_bytes(b"\xef\xbb\xbfnonsense = 1\n")
    with pytest.raises(UsageError, match="nonsense"):
        read_manifest(manifest, Stack)


@pytest.mark.parametrize("text", ["[" * 100_000, json.dumps([1]), '{"a": ' + "1" * 5000 + "}"])
def test_rows_that_are_none_are_named(tmp_path: Path, text: str) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text(text)
    with pytest.raises(ValueError, match=r"rows .*rows\.jsonl"):
        read_rows(path)
