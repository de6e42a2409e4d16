"""Bodies of recorded requests are sent byte by byte, or left out by name where the recording does not hold them."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest

from tests.intake.recordings import drafted, entry, har, words
from touchstone.engine.ask import RequestValues
from touchstone.intake.har.drafting import draft_from_har
from touchstone.manifest.exchange import Request

FORM = "application/x-www-form-urlencoded"
PARTS = "multipart/form-data; boundary=XyZ"
UPLOAD = {"name": "f", "fileName": 'a".txt', "contentType": "text/plain", "value": "hi"}
PICTURE = b"\x89PNG\r\n\x1a\n\xff\x00{{"


def posted(folder: Path, kind: str | None, post: Any, method: str = "POST", **fields: str) -> Request:
    """The request that is drafted from a recorded one."""
    sent = {"Content-Type": kind} if kind else {}
    scenario, _ = drafted(folder, entry(method, "/up", 201, headers=sent | fields, post=post))
    (journey,) = scenario.loads["session"].journeys
    return journey.steps[0]


def body(request: Request) -> bytes | None:
    if request.body is None:
        return None
    return RequestValues(1, "f", 0).fill(request.body).encode("latin-1" if request.encoding == "bytes" else "utf-8")


@pytest.mark.parametrize(
    ("kind", "post", "sent"),
    [
        ("application/json", {"text": '{"a": "\u00e9\u20ac {x}"}'}, '{"a": "\u00e9\u20ac {x}"}'.encode()),
        ("text/plain; charset=iso-8859-1", {"text": "\u00e9"}, b"\xe9"),
        ("text/plain", {"text": "\u00e9"}, b"\xc3\xa9"),
        (FORM, {"params": [{"name": "n", "value": "Ann B"}, {"name": "q", "value": "&=%"}]}, b"n=Ann+B&q=%26%3D%25"),
        (FORM, {"text": "name=Ann+B", "params": [{"name": "name", "value": "Ann%20B"}]}, b"name=Ann+B"),
        (FORM, {"params": [{"name": "none"}, {"name": "n", "value": None}]}, b"none=&n="),
        (FORM, {"params": []}, b""),
        ("application/octet-stream", {"encoding": "base64", "text": "AAEC"}, b"\x00\x01\x02"),
        ("image/png", {"encoding": "base64", "text": base64.b64encode(PICTURE).decode()}, PICTURE),
        ("image/png", {"_encoding": "base64", "text": "iVBO Rw"}, b"\x89PNG"),
        ("application/octet-stream", {"text": "\x00\xff\x89PNG"}, b"\x00\xff\x89PNG"),
        ("application/x-protobuf", {"text": "\x0a\x03Ann"}, b"\x0a\x03Ann"),
        ("application/octet-stream", {"text": "\u20ac"}, "\u20ac".encode()),
        ("application/graphql+json", {"text": "{a{b}}"}, b"{a{b}}"),
        ("application/xml", {"text": "<a>\u00e9</a>"}, "<a>\u00e9</a>".encode()),
        (PARTS, {"text": "--XyZ\r\n\r\n\u00e9\r\n--XyZ--\r\n"}, "--XyZ\r\n\r\n\u00e9\r\n--XyZ--\r\n".encode()),
        (PARTS, {"text": "--XyZ\r\n\r\n\x89PNG\xff\r\n--XyZ--\r\n"}, b"--XyZ\r\n\r\n\x89PNG\xff\r\n--XyZ--\r\n"),
        (PARTS, {"text": "--XyZ\r\n\r\n\xc3\xa9\r\n--XyZ--\r\n"}, "--XyZ\r\n\r\n\u00e9\r\n--XyZ--\r\n".encode()),
        (
            PARTS,
            {"params": [UPLOAD, {"name": "n", "value": "1"}]},
            b'--XyZ\r\nContent-Disposition: form-data; name="f"; filename="a%22.txt"\r\n'
            b'Content-Type: text/plain\r\n\r\nhi\r\n--XyZ\r\n'
            b'Content-Disposition: form-data; name="n"\r\n\r\n1\r\n--XyZ--\r\n',
        ),
    ],
)  # fmt: skip
def test_a_body_is_sent_as_it_was(tmp_path: Path, kind: str, post: dict[str, Any], sent: bytes) -> None:
    found = posted(tmp_path, kind, {"mimeType": kind} | post)
    assert body(found) == sent
    assert found.headers == {"content-type": kind}


def test_the_length_tells_bytes_from_text(tmp_path: Path) -> None:
    mojibake = {"mimeType": "application/json", "text": '"\u00c3\u00a9"'}
    assert body(posted(tmp_path / "a", "application/json", mojibake, **{"Content-Length": "4"})) == b'"\xc3\xa9"'
    binary = {"mimeType": "application/x-thing", "text": "\u00e9"}
    assert body(posted(tmp_path / "b", "application/x-thing", binary, **{"Content-Length": "2"})) == "\u00e9".encode()
    encoded = {"mimeType": FORM, "params": [{"name": "n", "value": "Ann%20B"}]}
    assert body(posted(tmp_path / "c", FORM, encoded, **{"Content-Length": "9"})) == b"n=Ann%20B"
    other = {"mimeType": "text/plain", "text": "abc"}
    _, text = drafted(tmp_path / "d", entry("POST", "/", 200, headers={"Content-Length": "9"}, post=other))
    assert "look: the body had 9 bytes, and 3 are recorded" in words(text)


@pytest.mark.parametrize(
    ("method", "post", "sent"),
    [
        ("GET", {"mimeType": "", "params": [], "text": ""}, None),
        ("DELETE", {"mimeType": "", "text": ""}, None),
        ("GET", {"mimeType": "application/json", "text": '{"query":{}}'}, b'{"query":{}}'),
        ("POST", None, b""),
        ("PUT", {"mimeType": "", "text": ""}, b""),
    ],
)
def test_methods_without_a_body_get_none(tmp_path: Path, method: str, post: Any, sent: bytes | None) -> None:
    assert body(posted(tmp_path, None, post, method)) == sent


def test_a_media_type_that_no_field_has_is_that_of_the_body(tmp_path: Path) -> None:
    found = posted(tmp_path, None, {"mimeType": "application/json", "text": "{}"})
    assert found.headers == {"content-type": "application/json"}


def test_a_coding_that_the_recorder_has_undone_is_not_named(tmp_path: Path) -> None:
    coded = {"Content-Encoding": "gzip", "Content-Length": "4"}
    kept = posted(tmp_path / "a", "application/json", {"text": "\x1f\x8b\x08\xff"}, **coded)
    assert (body(kept), kept.headers["content-encoding"]) == (b"\x1f\x8b\x08\xff", "gzip")
    _, text = drafted(
        tmp_path / "b", entry("POST", "/", 200, headers={"Content-Encoding": "gzip"}, post={"text": "{}"})
    )
    assert "content-encoding is left out: the body is recorded without gzip" in words(text)
    assert "headers = {" not in text


@pytest.mark.parametrize(
    ("kind", "post", "said"),
    [
        ("application/octet-stream", {"text": "a\ud83db"}, "half of a character"),
        ("text/plain", {"text": "a\ud83db"}, "half of a character"),
        (FORM, {"params": [{"name": "a", "value": "\ud83d"}]}, "half of a character"),
        ("application/octet-stream", {"text": "a\ufffdb"}, "bytes of its body were lost"),
        ("text/plain; charset=klingon", {"text": "a"}, "charset 'klingon' is not known"),
        ("text/plain; charset=rot13", {"text": "a"}, "charset 'rot13' is not known"),
        ("text/plain; charset=us-ascii", {"text": "\u00e9"}, "cannot be us-ascii"),
        ("image/png", {"text": "%%", "encoding": "base64"}, "said to be base64"),
        ("image/png", {"text": "abc", "encoding": "quoted"}, "encoded as 'quoted'"),
        ("image/png", {"_file": "1a2b.bin"}, "in another file"),
        (PARTS, {"params": [{"name": "f", "fileName": "a.png"}]}, "the file that was sent is not in the recording"),
        (PARTS, {"params": [{"name": "f", "fileName": "a.png", "value": "(binary)"}]}, "the file that was sent"),
        ("application/json", {"params": [{"name": "a", "value": "1"}]}, "recorded as parameters alone"),
        (FORM, {"params": [{"value": "1"}]}, "has no name"),
        (FORM, {"params": [{"name": "a", "value": {}}]}, "is not text"),
        ("text/plain", {"text": {"a": 1}}, "its body is not text"),
        ("text/plain", {"text": "x" * (2**20 + 1)}, "more than a manifest holds"),
        ("text/plain\u00e9", {"text": "x"}, "its media type is none"),
    ],
)  # fmt: skip
def test_a_body_that_is_not_in_the_recording_is_named(
    tmp_path: Path, kind: str, post: dict[str, Any], said: str
) -> None:
    draft = draft_from_har(
        har(tmp_path, entry("GET", "/", 200), entry("POST", "/up", 201, post={"mimeType": kind} | post))
    )
    assert len(draft.loads[0].requests) == 1
    assert said in " ".join(draft.notes)


def test_a_file_that_the_browser_left_out_of_a_form_is_named(tmp_path: Path) -> None:
    text = '--XyZ\r\nContent-Disposition: form-data; name="f"; filename="a.png"\r\n\r\n\r\n--XyZ--\r\n'
    upload = entry("POST", "/up", 201, headers={"Content-Type": PARTS, "Content-Length": "90210"}, post={"text": text})
    assert "the file that was sent" in " ".join(draft_from_har(har(tmp_path, entry("GET", "/", 200), upload)).notes)
