"""docs/your-service.md, followed word by word."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from tests.run.test_end_to_end import touchstone

PAGE = Path(__file__).resolve().parents[2] / "docs" / "your-service.md"
_BLOCK = re.compile(r"^```(\w+)(?: (\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def follow(page: Path, folder: Path) -> list[tuple[str, str]]:
    """Write the page's files and run its commands in their order; each command with its output."""
    told = []
    for language, name, text in _BLOCK.findall(page.read_text(encoding="utf-8")):
        if name:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text, encoding="utf-8")
        elif language == "console":
            for line in text.splitlines():
                program, *words = shlex.split(line.removeprefix("$ "))
                assert line.startswith("$ ")
                assert program == "touchstone"
                done = touchstone(folder, *words)
                said = done.stdout + done.stderr
                # A figure may be invalid on a busy machine, which is what 4 says; nothing may fail.
                assert done.returncode in ({0, 4} if words == ["run", "notes", "--quick"] else {0}), said
                told.append((line, said))
    return told


@pytest.mark.slow
def test_the_tutorial_can_be_followed(tmp_path: Path) -> None:
    told = dict(follow(PAGE, tmp_path))
    assert "notes: 4 checks, 3 loads, 2 variants: nothing wrong" in told["$ touchstone check notes"]
    measured = told["$ touchstone run notes --quick"]
    for contender in ("node/plain", "python/plain"):
        for title in ("Artifact", "Throughput", "Exec to first response"):
            assert re.search(rf"{contender}: {title}: [\d.]", measured), measured
    assert "failed" not in measured
    assert list(tmp_path.glob("results/*/report.html"))
