"""Makes `engine/load/src/limits.rs` from `touchstone.vocabulary.limits`. Run as `python -m tests.engine.limits`."""

from __future__ import annotations

import ast
import inspect
import textwrap
from itertools import pairwise
from pathlib import Path

from touchstone.vocabulary import limits

TARGET = Path(__file__).parents[2] / "engine" / "load" / "src" / "limits.rs"
IN_ENGINE = ("GENERATOR_FULL", "THROTTLED", "LATE_S", "ANSWERED", "DEVIATIONS")
_HEADER = """\
//! Limits that the lab applies as well. Made from `src/touchstone/vocabulary/limits.py` by
//! `python -m tests.engine.limits`.
"""


def generated() -> str:
    """The text of the module."""
    parts = [_HEADER]
    for one, after in pairwise(ast.parse(inspect.getsource(limits)).body):
        match one, after:
            case ast.Assign(targets=[ast.Name(id=name)]), ast.Expr(value=ast.Constant(value=str(text))):
                if name in IN_ENGINE:
                    lines = textwrap.wrap(" ".join(text.split()), 112)
                    comment = "\n".join(f"/// {line}" for line in lines)
                    parts.append(f"{comment}\npub(crate) const {name}: f64 = {getattr(limits, name)!r};\n")
    return "\n".join(parts)


if __name__ == "__main__":
    TARGET.write_text(generated(), encoding="utf-8")
