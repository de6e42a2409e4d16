"""The example of docs/library.md runs as it is printed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import touchstone
from tests.run.demo import demo

PAGE = Path(__file__).resolve().parents[2] / "docs/library.md"


def test_the_example_measures_judges_and_reports(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    demo(tmp_path / "my-bench")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TOUCHSTONE_CACHE", str(tmp_path / "cache"))
    (example,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    exec(compile(example, str(PAGE), "exec"), {})
    assert "sound/plain" in capsys.readouterr().out
    (folder,) = (tmp_path / "results").iterdir()
    assert (folder / "report.html").stat().st_size > 0


def test_what_the_package_offers_is_there_and_nothing_else() -> None:
    for name in touchstone.__all__:
        assert callable(getattr(touchstone, name))
    with pytest.raises(AttributeError, match="there are: "):
        _ = touchstone.nothing
