"""The pictures of README and docs, made from a recorded run: `python -m tests.browser.pictures [FOLDER]`.

They show today's report and terminal, so they are made again when either changes.
"""

from __future__ import annotations

import io
import re
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.sync_api import Browser
from rich.console import Console
from rich.terminal_theme import DIMMED_MONOKAI
from rich.text import Text

from tests.browser.chromium import DESKTOP, PHONE, browser, opened
from tests.golden.golden import judged, recorded_run
from touchstone.report import html, print_report
from touchstone.report.view import View

RUN = "newcomer"
_ROWS = 34
"""Lines of the terminal that the picture shows."""
_TOGETHER = """<!doctype html><meta charset="utf-8"><style>
body {{ margin: 0; padding: 36px; background: #e9e6dd; display: flex; gap: 28px; width: 1618px; }}
svg, img {{ align-self: flex-start; }}
svg, img {{ border-radius: 10px; box-shadow: 0 10px 34px #0004; }}
svg {{ width: 900px; height: auto; flex: none; }} img {{ width: 690px; }}
</style>{terminal}<img src="{report}" alt="">"""


def terminal() -> str:
    """The beginning of what the terminal shows, as SVG that refers to nothing outside."""
    console = Console(record=True, width=118, file=io.StringIO(), force_terminal=True, color_system="truecolor")
    print_report(console, View(recorded_run(RUN), judged(RUN)))
    lines = console.export_text(styles=True).splitlines()
    shown = Console(record=True, width=118, file=io.StringIO(), force_terminal=True, color_system="truecolor")
    shown.out("$ touchstone run users --quick", highlight=False)
    for line in lines[:_ROWS]:
        shown.print(Text.from_ansi(line), overflow="crop", no_wrap=True)
    return re.sub(r"@font-face \{.*?\}", "", shown.export_svg(title="touchstone", theme=DIMMED_MONOKAI), flags=re.S)


def take(started: Browser, folder: Path) -> list[Path]:
    """Write all pictures into the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory() as scratch:
        report = Path(scratch) / "report.html"
        report.write_text(html.document(View(recorded_run(RUN), judged(RUN))), encoding="utf-8")
        made = []
        for name, width in (("desktop", DESKTOP), ("phone", PHONE)):
            for scheme in ("light", "dark"):
                made.append(folder / f"report-{name}-{scheme}.png")
                page = opened(started, report, width=width, scheme=scheme)
                page.screenshot(path=made[-1], clip={"x": 0, "y": 0, "width": width, "height": 1100}, full_page=True)
        (folder / "terminal.svg").write_text(terminal(), encoding="utf-8")
        together = Path(scratch) / "together.html"
        together.write_text(_TOGETHER.format(terminal=terminal(), report=made[0].resolve().as_uri()), encoding="utf-8")
        page = opened(started, together, width=1690)
        page.locator("body").screenshot(path=folder / "touchstone.png")
    return [*made, folder / "terminal.svg", folder / "touchstone.png"]


def main() -> None:
    """Make them."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "docs/images")
    with browser() as started:
        for picture in take(started, folder):
            print(picture)


if __name__ == "__main__":
    main()
