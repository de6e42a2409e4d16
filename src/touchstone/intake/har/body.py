"""The body that a recorded request had: its bytes, from the text or the parameters of a HAR file."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping
from dataclasses import dataclass
from email.message import Message
from typing import Any, Literal
from urllib.parse import urlencode

from touchstone.intake.har.value import DraftNotes, LeftOutError

_WITH_BODY = ("POST", "PUT", "PATCH")
"""Methods whose requests have a body, be it an empty one (RFC 9110, section 8.6)."""
_FORM = "application/x-www-form-urlencoded"
_TEXT_KINDS = re.compile(
    r"text/.*|.*/(.*\+)?(json|xml)|application/(x-www-form-urlencoded|.*json.*|graphql|javascript|ecmascript|sql|yaml)|",
    re.S,
)
"""Media types whose bodies are text; a recording of any other holds a character for each byte."""
_LARGEST = 2**20
"""Bytes of a body that a manifest holds."""
_MAGIC = {"gzip": b"\x1f\x8b", "x-gzip": b"\x1f\x8b", "zstd": b"\x28\xb5\x2f\xfd", "deflate": b"\x78"}
"""How bodies of these codings begin; of others, such as br, nothing tells."""
_MORE_THAN_LINE_ENDS = 64
"""Bytes that a recorder may have lost of the frame of a form in parts; of more, a file was left out."""
_BOUNDARY = "touchstone-part-of-a-form"


@dataclass(frozen=True)
class Body:
    """A body as a manifest holds it: text, or a character for each byte."""

    text: str
    encoding: Literal["text", "bytes"] = "text"


def body_of(
    asked: Mapping[str, Any], headers: dict[str, str], method: str, sent_length: int | None, remarks: DraftNotes
) -> Body | None:
    """The body of a request of `sent_length` bytes, if that is known. None if it has none.

    `headers` gets its media type. Raises LeftOutError for a body that is not in the recording.
    """
    posted = asked.get("postData")
    if posted is None and not sent_length:
        return Body("") if method in _WITH_BODY else None
    if not isinstance(posted, dict):
        raise LeftOutError("its body is not in the recording")
    stated = posted.get("mimeType")
    kind = headers.get("content-type") or (stated.strip() if isinstance(stated, str) else "")
    if not re.fullmatch(r"[\x20-\x7e]*", kind):
        raise LeftOutError("its media type is none")
    content, kind = _content(posted, kind, sent_length)
    if not content and sent_length:
        raise LeftOutError(f"its body of {sent_length} bytes is not in the recording")
    if not content and method not in _WITH_BODY:
        return None
    if len(content) > _LARGEST:
        raise LeftOutError(f"its body of {len(content)} bytes is more than a manifest holds: send it by `body_file`")
    if kind:
        headers["content-type"] = kind
    _drop_coding(headers, content, remarks)
    if sent_length is not None and sent_length != len(content):
        remarks.looks.append(f"the body had {sent_length} bytes, and {len(content)} are recorded")
    return _as_text(content)


def _content(posted: Mapping[str, Any], kind: str, sent_length: int | None) -> tuple[bytes, str]:
    """The bytes of the body, and its media type."""
    text, params = posted.get("text"), posted.get("params")
    if text is not None and not isinstance(text, str):
        raise LeftOutError("its body is not text")
    if text:
        coding = next((posted[name] for name in ("encoding", "_encoding") if posted.get(name)), None)
        return (_decoded(text, coding) if coding else _encoded(text, kind, sent_length)), kind
    if not isinstance(params, list) or not params:
        if isinstance(posted.get("_file"), str):
            raise LeftOutError("its body is in another file")
        return b"", kind
    if any(not isinstance(one, dict) or not isinstance(one.get("name"), str) for one in params):
        raise LeftOutError("a parameter of its body has no name")
    media = _message(kind).get_content_type()
    if media == "multipart/form-data":
        return _parts(params, kind)
    if media == _FORM or not kind:
        pairs = [(one["name"], "" if one.get("value") is None else one["value"]) for one in params]
        if any(not isinstance(value, str) for _, value in pairs):
            raise LeftOutError("a parameter of its body is not text")
        return _bytes(_form(pairs, sent_length), "utf-8"), kind or _FORM
    raise LeftOutError(f"its body of {media} is recorded as parameters alone")


def _form(pairs: list[tuple[str, str]], sent_length: int | None) -> str:
    """A form, encoded. Some recorders leave the parameters encoded: the length tells."""
    as_they_stand = "&".join(f"{name}={value}" for name, value in pairs)
    if sent_length == len(as_they_stand):
        return as_they_stand
    try:
        return urlencode(pairs)
    except UnicodeEncodeError as error:
        raise LeftOutError("its body holds half of a character") from error


def _parts(params: list[dict[str, Any]], kind: str) -> tuple[bytes, str]:
    """A form in parts (RFC 7578), with its media type."""
    boundary = _message(kind).get_param("boundary")
    if not isinstance(boundary, str) or not re.fullmatch(r"[ -~]{1,70}", boundary):
        boundary, kind = _BOUNDARY, f"multipart/form-data; boundary={_BOUNDARY}"
    whole = "".join(f"--{boundary}\r\n{part}\r\n" for part in map(_part, params))
    return _bytes(f"{whole}--{boundary}--\r\n", "utf-8"), kind


def _part(one: Mapping[str, Any]) -> str:
    file, value, kind = one.get("fileName"), one.get("value"), one.get("contentType")
    if file and (not isinstance(value, str) or value in ("", "(binary)")):
        raise LeftOutError("the file that was sent is not in the recording")
    if value is not None and not isinstance(value, str):
        raise LeftOutError("a part of its body is not text")
    head = f'Content-Disposition: form-data; name="{_quoted(one["name"])}"'
    if isinstance(file, str) and file:
        head += f'; filename="{_quoted(file)}"'
    if isinstance(kind, str) and re.fullmatch(r"[ -~]+", kind):
        head += f"\r\nContent-Type: {kind}"
    return f"{head}\r\n\r\n{value or ''}"


def _quoted(text: str) -> str:
    """A name as browsers write it in the head of a part (the HTML standard, "multipart/form-data")."""
    return text.replace('"', "%22").replace("\r", "%0D").replace("\n", "%0A")


def _decoded(text: str, coding: object) -> bytes:
    if not isinstance(coding, str) or coding.lower() != "base64":
        raise LeftOutError(f"its body is encoded as {str(coding)[:20]!r}")
    try:
        plain = re.sub(r"\s", "", text)
        return base64.b64decode(plain + "=" * (-len(plain) % 4), validate=True)
    except (binascii.Error, ValueError) as error:
        raise LeftOutError("its body is said to be base64, and is not") from error


def _encoded(text: str, kind: str, sent_length: int | None) -> bytes:
    """The bytes of a text: in its charset, or a character for each byte where the body is not text."""
    message = _message(kind)
    media = message.get_content_type() if kind else ""
    of_bytes = max(text) <= "\xff"
    if of_bytes and sent_length == len(text):
        return text.encode("latin-1")
    if _TEXT_KINDS.fullmatch(media):
        return _bytes(text, str(message.get_content_charset() or "utf-8"))
    if "\ufffd" in text:
        raise LeftOutError("bytes of its body were lost when it was recorded as text")
    as_text = _bytes(text, "utf-8")
    if media.startswith("multipart/") and sent_length is not None and sent_length > len(as_text) + _MORE_THAN_LINE_ENDS:
        raise LeftOutError("the file that was sent is not in the recording")
    if not of_bytes or sent_length == len(as_text) or (media.startswith("multipart/") and _reads_as_text(text)):
        return as_text
    return text.encode("latin-1")


def _reads_as_text(text: str) -> bool:
    """Whether characters up to U+00FF are letters, and no bytes: no controls, and no UTF-8 read as Latin-1."""
    if re.search(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]", text):
        return False
    try:
        text.encode("latin-1").decode()
    except UnicodeDecodeError:
        return True
    return False


def _bytes(text: str, charset: str) -> bytes:
    try:
        return text.encode(charset)
    except LookupError as error:
        raise LeftOutError(f"its charset {charset[:40]!r} is not known") from error
    except (UnicodeError, ValueError) as error:
        raise LeftOutError(
            f"its body cannot be {charset[:40]}: it holds half of a character, or another one"
        ) from error


def _drop_coding(headers: dict[str, str], content: bytes, remarks: DraftNotes) -> None:
    """A Content-Encoding that the recorder has undone is not sent."""
    coding = headers.get("content-encoding", "").strip().lower()
    if coding in _MAGIC and not content.startswith(_MAGIC[coding]):
        del headers["content-encoding"]
        remarks.notes.append(f"content-encoding is left out: the body is recorded without {coding}")


def _as_text(content: bytes) -> Body:
    try:
        text = content.decode()
    except UnicodeDecodeError:
        return Body(content.decode("latin-1"), "bytes")
    return Body(text)


def _message(kind: str) -> Message:
    message = Message()
    message["content-type"] = kind
    return message
