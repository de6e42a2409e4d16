"""The version stands in Cargo.toml, from where the wheel takes it, and in the package, which runs without one too."""

from __future__ import annotations

import tomllib
from pathlib import Path

import touchstone

ROOT = Path(__file__).resolve().parents[2]


def test_engine_and_package_have_one_version() -> None:
    cargo = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert touchstone.__version__ == cargo["workspace"]["package"]["version"]
    assert project["dynamic"] == ["version"]
