"""Java's names, where they are not written as its readers know them."""

from __future__ import annotations

import re

_FUNCTION = re.compile(r"([^\s(*&]+)::([^\s(:]+)")
_DRAWN = re.compile(r"(\$\d+)?[/+.]0x[0-9a-f]+(/\d+)?")
"""What tells one lambda of a class from its others: drawn anew for each image, and each start of a JVM."""


def of_symbol(symbol: str) -> str:
    """A native image's `java.util.HashMap::get`, as in C++, with or without its types: `java.util.HashMap.get`."""
    found = _FUNCTION.search(symbol)
    return _DRAWN.sub("", f"{found[1]}.{found[2]}") if found else symbol


def of_method(class_name: str, method: str) -> str:
    """A method of `java/util/HashMap`, as class files have it: `java.util.HashMap.get`."""
    return f"{_DRAWN.sub('', class_name).replace('/', '.')}.{method}"
