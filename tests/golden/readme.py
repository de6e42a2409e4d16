"""README's first screen: what a recorded run prints, by today's judge and terminal."""

from __future__ import annotations

import io
import re
from pathlib import Path

from rich.console import Console

from tests.golden.golden import judged, recorded_run
from touchstone.report import print_report

RUN = "newcomer"
README = Path(__file__).resolve().parents[2] / "README.md"
_WIDTH = 112
_BLOCK = re.compile(r"(?<=<!-- output -->\n).*?(?=<!-- /output -->)", re.DOTALL)
_LEFT_OUT = re.compile(r"\nFindings, by what they cost\n.*?\n(?=Comparisons\n)", re.DOTALL)
"""Findings and tables of details."""
_FIRST = re.compile(r"(?<=\nComparisons\n)  \S.*?(?=\n  \w)", re.DOTALL)
"""The comparisons under the load that leads."""
_TEXT = """\
What `make run` prints, in part: left out are findings, tables of details, and the comparisons under other loads. The
JVM was warmed up until it no longer got faster. `~` marks a difference that the run cannot decide, `▲` and `▼` those
that it can, `?` a figure that what was found may have moved.

```
{output}
```

![Such a run on a terminal and as a page](docs/images/touchstone.png)
"""


def block() -> str:
    """What stands between README's markers."""
    console = Console(file=io.StringIO(), width=_WIDTH)
    print_report(console, recorded_run(RUN), judged(RUN))
    assert isinstance(console.file, io.StringIO)
    text = "\n".join(line.rstrip() for line in console.file.getvalue().splitlines())
    head, comparisons, rest = _LEFT_OUT.sub("\n", text).partition("\nComparisons\n")
    first = _FIRST.search(comparisons + rest)
    assert first is not None, "the run compares nothing"
    return _TEXT.format(output=re.sub(r"\n{3,}", "\n\n", head + comparisons + first.group()).strip())


def written(page: str) -> str:
    """The page with today's output in place."""
    return _BLOCK.sub(lambda _: block(), page)


def write() -> Path:
    """Put it into README."""
    README.write_text(written(README.read_text(encoding="utf-8")), encoding="utf-8")
    return README
