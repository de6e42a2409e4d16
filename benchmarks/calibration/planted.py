"""The judge on real servers whose truth is known: one contender under two names, and two that were made slower.

`python -m benchmarks.calibration.planted [--rounds N] [--out FOLDER]` copies the Go contender of `users`: `one` and
`two` are the same program; `slow5` and `slow10` spin for 4 and 8 microseconds in a lookup that takes some 80. The lab
compares them as any others. The record can be handed to `python -m benchmarks.calibration RUN`, which draws from it.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
USERS = ROOT / "scenarios" / "users"
SPINS_US = {"one": 0, "two": 0, "slow5": 4, "slow10": 8}
LOOKUP = "\t\tfound, err := users.get(r.Context(), name)\n"


def replaced(path: Path, *changes: tuple[str, str]) -> None:
    """Change a file; raises SystemExit if it no longer holds what is to be changed."""
    text = path.read_text(encoding="utf-8")
    for old, new in changes:
        if old not in text:
            raise SystemExit(f"{path.name} of `users` has changed: it lacks {old!r}")
        text = text.replace(old, new, 1)
    path.write_text(text, encoding="utf-8")


def write_scenario(folder: Path) -> None:
    """`users` with the four contenders alone, and no wait after a load."""
    shutil.copy(USERS / "scenario.toml", folder)
    changes = (('name = "users"', 'name = "planted"'), ('baseline = "go"', 'baseline = "one"'))
    replaced(folder / "scenario.toml", *changes, ("idle_s = 5.0", "idle_s = 0.0"))
    for name, spin in SPINS_US.items():
        stack = folder / name
        shutil.copytree(USERS / "go", stack)
        replaced(
            stack / "stack.toml", ('name = "go"', f'name = "{name}"'), ('scenario = "users"', 'scenario = "planted"')
        )
        if spin:
            loop = f"\t\tfor begin := time.Now(); time.Since(begin) < {spin}*time.Microsecond; {{\n\t\t}}\n"
            replaced(stack / "handler.go", (LOOKUP, loop + LOOKUP), ('\t"net/http"\n', '\t"net/http"\n\t"time"\n'))


def main() -> int:
    """Compare them; the lab's exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--out", type=Path, help="where the record goes; the lab's usual place otherwise")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="touchstone-planted-") as folder:
        write_scenario(Path(folder))
        command = [str(Path(sys.executable).with_name("touchstone")), "run", folder, "--quick", "--load", "lookup"]
        command += ["--phase", "load", "--rounds", str(options.rounds)]
        command += ["--out", str(options.out)] if options.out else []
        return subprocess.run(command, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
