"""Copies of the lab's own stacks, broken on purpose: the contract check names each, and none is timed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from touchstone.manifest.catalogue import find_scenario, select_contenders
from touchstone.plan.plan import find_tools

ROOT = Path(__file__).resolve().parents[2]
SAID = {
    "wrong-body": "'Boom! We found you:  ",
    "200-on-unknown-path": "received status 200",
    "lost-insert": "received",
}
FIRST = {("go", "lost-insert"), ("rust", "wrong-body"), ("kotlin-http4k", "200-on-unknown-path")}
"""One fault a stack in every test run; all nine are `make test-broken`."""

CASES = [
    pytest.param(stack, fault, marks=[] if (stack, fault) in FIRST else [pytest.mark.broken])
    for stack in ("go", "rust", "kotlin-http4k")
    for fault in SAID
]


@pytest.mark.slow
@pytest.mark.parametrize(("stack", "fault"), CASES)
def test_a_stack_that_is_broken_on_purpose_fails_its_contract(tmp_path: Path, stack: str, fault: str) -> None:
    folder = tmp_path / "users"
    folder.mkdir()
    scenario = (ROOT / "scenarios/users/scenario.toml").read_text()
    # The stack of the baseline is not copied.
    (folder / "scenario.toml").write_text(scenario.replace('baseline = "go"\n', ""))
    ignored = shutil.ignore_patterns("target", "build")
    shutil.copytree(ROOT / "scenarios/users" / stack, folder / stack, ignore=ignored)
    contender = select_contenders(find_scenario(str(folder), tmp_path), [stack])[0]
    tools = find_tools(contender)
    if isinstance(tools, str):
        pytest.skip(tools)
    patch = ROOT / "tests/broken" / stack / f"{fault}.patch"
    subprocess.run(["patch", "-p1", "-s", "-i", str(patch)], cwd=folder / stack, check=True)
    command = [sys.executable, "-c", "from touchstone.cli.main import main; main()", "run", str(folder)]
    done = subprocess.run(
        [*command, "--stacks", contender.name, "--quick", "--rounds", "1"],
        cwd=tmp_path,
        env=os.environ | {"TOUCHSTONE_CACHE": str(tmp_path / "cache"), "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        timeout=1800,
        check=False,
    )
    assert f"{contender.name} breaks its contract" in done.stdout, done.stdout + done.stderr
    assert SAID[fault] in done.stdout
    assert done.returncode == 4
    assert not list(tmp_path.glob("results/*/samples/*-load-*"))
