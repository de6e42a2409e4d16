"""README's first screen: what a recorded run prints, by today's judge and terminal."""

from __future__ import annotations

import io
import re
from pathlib import Path

from rich.console import Console

from tests.golden.golden import judged, recorded_run
from touchstone.report import print_report
from touchstone.report.view import View

RUN = "newcomer"
README = Path(__file__).resolve().parents[2] / "README.md"
_WIDTH = 100
_BLOCK = re.compile(r"(?<=<!-- output -->\n).*?(?=<!-- /output -->)", re.DOTALL)
_SHOWN = re.compile(r"\A.*?\n(?=\nLookup of one name at)", re.DOTALL)
"""From the first line to the end of the second load's figures."""
_TEXT = """\
```
{output}
...
```

`▲` better, `▼` worse, `~` undecided, `?` doubtful (a finding says why). The file `report.html` shows all results:

![The report of this run on a terminal and as a page](docs/images/touchstone.png)
"""


def block() -> str:
    """What stands between README's markers."""
    console = Console(file=io.StringIO(), width=_WIDTH)
    print_report(console, View(recorded_run(RUN), judged(RUN)))
    assert isinstance(console.file, io.StringIO)
    text = "\n".join(line.rstrip() for line in console.file.getvalue().splitlines())
    shown = _SHOWN.search(text)
    assert shown is not None, "the figures of the third load do not follow those of the second"
    return _TEXT.format(output=shown.group().strip())


def written(page: str) -> str:
    """The page with today's output in place."""
    return _BLOCK.sub(lambda _: block(), page)


def write() -> Path:
    """Put it into README."""
    README.write_text(written(README.read_text(encoding="utf-8")), encoding="utf-8")
    return README
