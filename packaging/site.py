"""What the site needs beyond the pages of docs/: the front page from README, the gallery, links that leave docs/."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files
from tests.golden.golden import RUNS, judged, recorded_run

from touchstone.report import html
from touchstone.report.view import View

ROOT = Path(__file__).resolve().parents[1]
_SHIM = re.compile(r'<script src="https://unpkg.com/iframe-worker/shim">\s*</script>')
_LINK = re.compile(r"\[([^\]]+)\]\((?!https?:|#|mailto:)([^)#\s]+)(#[^)]*)?\)")


def on_files(files: Files, config: Any) -> Files:
    """Add the front page, the gallery and its reports: real runs, rendered by today's report."""
    files.append(File.generated(config, "index.md", content=_front()))
    rows = []
    for name in RUNS:
        run = recorded_run(name)
        files.append(File.generated(config, f"gallery/{name}.html", content=html.document(View(run, judged(name)))))
        rows.append(f"- [{run.plan.scenario_title}](gallery/{name}.html): {run.plan.scenario}, {run.plan.profile}")
    claims = sorted(path.name for path in (ROOT / "docs/examples/claims").glob("*.html"))
    rows += [f"- [Claims: {name.removesuffix('.html')}](examples/claims/{name})" for name in claims]
    head = "# Gallery\n\nReports of real runs, as `touchstone run` writes them, and pages on published statements.\n\n"
    files.append(File.generated(config, "gallery.md", content=head + "\n".join(rows) + "\n"))
    return files


def on_post_build(config: Any) -> None:
    """Let the search of a page that was opened from a file come from the site itself, or do without."""
    site, shim = Path(config.site_dir), ROOT / "target/site/node_modules/iframe-worker/shim/index.js"
    if shim.is_file():
        shutil.copy(shim, site / "assets/javascripts/iframe-worker.js")
    for path in site.rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        own = f"{'../' * (len(path.relative_to(site).parts) - 1)}assets/javascripts/iframe-worker.js"
        instead = f'<script src="{own}"></script>' if shim.is_file() else ""
        changed = _SHIM.sub(instead, text)
        if changed != text:
            path.write_text(changed, encoding="utf-8")


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """A link that leads out of docs/ becomes the path that it names: the site holds no sources."""

    def inside(found: re.Match[str]) -> str:
        words, target = found[1], found[2]
        place = (ROOT / "docs" / page.file.src_uri).parent.joinpath(target).resolve()
        if (place.is_relative_to(ROOT / "docs") and place.is_file()) or target.startswith(("gallery/", "gallery.md")):
            return found[0]
        plain = words.strip("`")
        return f"{words} (`{place.relative_to(ROOT)}`)" if plain != str(place.relative_to(ROOT)) else f"`{plain}`"

    return _LINK.sub(inside, markdown)


def _front() -> str:
    """README, whose links are those of a page one folder up."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    return re.sub(r"\]\((?!https?:|#)([^)]+)\)", lambda found: f"]({_from_docs(found[1])})", text)


def _from_docs(target: str) -> str:
    return target.removeprefix("docs/") if target.startswith("docs/") else f"../{target}"
