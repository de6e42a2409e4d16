"""Settings as values: two spellings of one setting are equal."""

from __future__ import annotations

import re
from typing import Any

_WORDS = {"on": True, "true": True, "yes": True, "off": False, "false": False, "no": False}
_UNITS = {"b": 1.0, "kb": 2**10, "mb": 2**20, "gb": 2**30, "tb": 2**40, "us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0}
_QUANTITY = re.compile(r"(-?\d+(?:\.\d+)?)\s*([a-z]*)")


def normal(value: Any) -> bool | float | str:
    """A setting in one form: yes and no as truth values, sizes in bytes, times in seconds, the rest in lower case.

    Units are PostgreSQL's and are binary (`128MB` is 128 x 2^20 bytes).
    """
    if isinstance(value, bool):
        return value
    text = str(value).strip().lower()
    if text in _WORDS:
        return _WORDS[text]
    match = _QUANTITY.fullmatch(text)
    if match and (not match[2] or match[2] in _UNITS):
        return float(match[1]) * _UNITS.get(match[2], 1.0)
    return text
