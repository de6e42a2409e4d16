"""The page in a real browser, where one is installed."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")

_PROBE = """<body><iframe id="f" src="report.html" style="width:{width}px;height:900px;border:0"></iframe>
<pre id="o"></pre><script>f.onload = () => {{
  const page = f.contentDocument.documentElement;
  o.textContent = "scroll " + page.scrollWidth + " client " + page.clientWidth;
}}</script>"""


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here")
@pytest.mark.parametrize("width", [360, 390, 768, 1280])
def test_the_page_never_scrolls_sideways(rendered: Path, tmp_path: Path, width: int) -> None:
    shutil.copy(rendered / "report.html", tmp_path)
    (tmp_path / "probe.html").write_text(_PROBE.format(width=width))
    command = [str(CHROMIUM), "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run"]
    command += ["--disable-background-networking", "--disable-web-security", f"--user-data-dir={tmp_path / 'profile'}"]
    command += ["--virtual-time-budget=10000", "--dump-dom", (tmp_path / "probe.html").as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    found = re.search(r"scroll (\d+) client (\d+)<", done.stdout)
    assert found, done.stderr[-2000:]
    assert int(found[1]) <= int(found[2])
