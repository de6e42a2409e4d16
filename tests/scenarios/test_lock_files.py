"""What a stack depends on is fixed by content, and says nothing of where it was downloaded."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

SCENARIOS = Path(__file__).parents[2] / "scenarios"
NPM = sorted(SCENARIOS.glob("*/*/package-lock.json"))
PYTHON = sorted(SCENARIOS.glob("*/*/requirements.txt"))


def _named(path: Path) -> str:
    return "/".join(path.parts[-3:])


@pytest.mark.parametrize("lock", NPM, ids=_named)
def test_npm_packages_have_digests_and_no_addresses(lock: Path) -> None:
    packages = json.loads(lock.read_text(encoding="utf-8"))["packages"]
    for name, package in packages.items():
        assert "resolved" not in package, name
        assert not name or package["integrity"].startswith("sha512-"), name


@pytest.mark.parametrize("lock", PYTHON, ids=_named)
def test_python_packages_have_exact_versions_and_digests(lock: Path) -> None:
    text = lock.read_text(encoding="utf-8")
    assert "://" not in text
    requirements = re.sub(r"(?m)^\s*#.*\n", "", text).replace("\\\n", " ").splitlines()
    assert requirements
    for requirement in requirements:
        assert re.match(r"[a-z0-9-]+==\S+ ", requirement), requirement
        assert "--hash=sha256:" in requirement, requirement
