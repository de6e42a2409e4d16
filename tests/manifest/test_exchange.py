"""Bodies of requests: text, bytes, and files next to the manifest."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.contract.raw_server import replay, response, serving
from touchstone.engine.ask import AskedService, RequestValues
from touchstone.engine.job import request
from touchstone.failure import UsageError
from touchstone.manifest.exchange import Request
from touchstone.manifest.reader import read_manifest

PICTURE = b"\x89PNG\r\n\x1a\n{{counter}\xff\x00"


def read(folder: Path, text: str) -> Request:
    (folder / "request.toml").write_text(f'method = "POST"\ntarget = "/up"\n{text}', encoding="utf-8")
    return read_manifest(folder / "request.toml", Request)


def sent(wanted: Request) -> bytes:
    heard: list[bytes] = []
    with serving(replay(response()), heard=heard) as port:
        AskedService.at("127.0.0.1", port).exchange(wanted, RequestValues(7, "f", 0))
    return heard[0].partition(b"\r\n\r\n")[2]


def test_bytes_are_sent_as_they_are(tmp_path: Path) -> None:
    (tmp_path / "picture.png").write_bytes(PICTURE)
    assert sent(read(tmp_path, 'body_file = "picture.png"\nencoding = "bytes"')) == PICTURE
    written = read(tmp_path, r'body = "\u0089PNG {counter}"' + '\nencoding = "bytes"')
    assert sent(written) == b"\x89PNG 7"
    assert request(written)["encoding"] == "bytes"
    assert sent(read(tmp_path, 'body = "\u0089"')) == "\u0089".encode()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('body_file = "picture.png"', 'not UTF-8.*encoding = "bytes"'),
        ('body = "\u0100"\nencoding = "bytes"', "none beyond"),
        ('encoding = "bytes"', "goes with body"),
    ],
)
def test_what_is_no_body_of_its_encoding_is_refused(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "picture.png").write_bytes(PICTURE)
    with pytest.raises(UsageError, match=said):
        read(tmp_path, text)


def test_values_of_the_environment_are_written_as_their_place_wants_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORD", 'a b"{c}\n')
    fields: dict[str, Any] = {
        "target": "/{env.WORD:url}/{env.WORD}",
        "headers": {"x": "{env.WORD}"},
        "body": '{"word":"{env.WORD:json}"}',
    }
    given = request(Request(**fields))
    assert given["target"] == '/a%20b%22%7Bc%7D%0A/a%20b"{brace}c}%0A'
    assert given["headers"] == [("x", 'a b"{brace}c}%0A')]
    assert given["body"] == '{"word":"a b\\"{brace}c}\\n"}'
