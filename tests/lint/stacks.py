"""Lints the stacks with their languages' own tools, as far as those are installed."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from touchstone.toolchain.registry import find_tool
from touchstone.toolchain.tool import FoundTool

ROOT = Path(__file__).resolve().parents[2]


def main() -> int:
    """Run every linter; the number of those that complained."""
    complaints = 0
    for module in sorted(ROOT.glob("scenarios/*/*/go.mod")):
        if shutil.which("gofmt"):
            listed = subprocess.run(["gofmt", "-l", "."], cwd=module.parent, capture_output=True, text=True, check=True)
            if listed.stdout:
                print(f"{module.parent}: gofmt: {listed.stdout.strip()}")
                complaints += 1
        if shutil.which("go"):
            complaints += _vet(module.parent)
    for manifest in sorted(ROOT.glob("scenarios/*/*/Cargo.toml")):
        if shutil.which("cargo"):
            complaints += _run(["cargo", "fmt", "--check"], manifest.parent)
    for project in sorted(ROOT.glob("scenarios/*/*/pyproject.toml")):
        for command in (["check"], ["format", "--check"]):
            complaints += _run([sys.executable, "-m", "ruff", *command, "--quiet"], project.parent)
    for build in sorted(ROOT.glob("scenarios/*/*/build.zig")):
        complaints += _run_found("zig", ["fmt", "--check", "."], build.parent)
    for settings in sorted(ROOT.glob("scenarios/*/*/deno.json")):
        for arguments in (["lint", "--quiet"], ["fmt", "--check", "--quiet"], ["check", "--quiet"]):
            complaints += _run_found("deno", arguments, settings.parent)
    return complaints


def _vet(module: Path) -> int:
    """`go vet` of a module. Code that a build generates (`gen`, from `proto` next to the stack) is made in a copy."""
    if not (module / "gen").is_dir():
        return _run(["go", "vet", "./..."], module)
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(shutil.copytree(module, Path(folder, module.name)))
        shutil.copytree(module.parent / "proto", copy / "proto")
        return _run(["go", "run", "./gen"], copy) or _run(["go", "vet", "./..."], copy)


def _run_found(tool: str, arguments: list[str], folder: Path) -> int:
    """The same with a tool that may be on the path or in the lab's cache, and need not be there."""
    found = find_tool(tool)
    return _run([str(found.path), *arguments], folder) if isinstance(found, FoundTool) else 0


def _run(command: list[str], folder: Path) -> int:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        place = folder.relative_to(ROOT) if folder.is_relative_to(ROOT) else folder.name
        print(f"{place}: {' '.join(command)}\n{done.stdout}{done.stderr}")
    return int(done.returncode != 0)


if __name__ == "__main__":
    sys.exit(main())
