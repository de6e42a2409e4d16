"""Whole gates whose truth is known, counted: identical revisions, and heads that burn a planted share of CPU time.

`python -m benchmarks.calibration.gate FOLDER [--gates N] [--planted 0 0.05] [--margin 3%] [--minutes 1.5]` runs
`touchstone ab` on the Go contender of `users` until FOLDER/counts.jsonl has N gates of this margin and time for each
planted share, and prints their counts. It can be ended at any time: the same command continues.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.calibration.planted import LOOKUP, USERS, replaced
from touchstone.judge.statistics.distributions import greatest_chance

REQUEST_US = 35.0
"""CPU time of a lookup on the machine of the recorded runs, in microseconds; the planted share is of this."""
_FIGURES = ("cpu_per_request", "throughput")
_GIT = {f"GIT_{who}_{what}": "gate" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}


def repository(folder: Path, shares: list[float]) -> None:
    """A repository with `users`: the tag `base`, and one tag a share, whose commit differs in that alone."""
    bench = folder / "users"
    shutil.copytree(USERS / "go", bench / "go")
    shutil.copy(USERS / "scenario.toml", bench)
    replaced(bench / "scenario.toml", ("idle_s = 5.0", "idle_s = 0.0"))
    _git(folder, "init", "--quiet")
    _commit(folder, "base")
    handler = bench / "go/handler.go"
    sound = handler.read_text(encoding="utf-8")
    for share in shares:
        handler.write_text(f"// A head with {share:.0%} more.\n{sound}", encoding="utf-8")
        if share:
            spin = f"{round(share * REQUEST_US * 1000)}*time.Nanosecond"
            loop = f"\t\tfor begin := time.Now(); time.Since(begin) < {spin}; {{\n\t\t}}\n"
            replaced(handler, (LOOKUP, loop + LOOKUP), ('\t"net/http"\n', '\t"net/http"\n\t"time"\n'))
        _commit(folder, _tag(share))


def gate(top: Path, share: float, margin: str, minutes: float) -> dict[str, Any]:
    """Run one gate; its result as a line of the counts."""
    words = ["ab", "base", _tag(share), "--scenario", "users", "--stack", "go", "--load", "lookup", "--json"]
    words += ["--margin", margin, "--minutes", str(minutes), *(word for f in _FIGURES for word in ("--figure", f))]
    begin = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-m", "touchstone.cli.main", *words], cwd=top, capture_output=True, text=True, check=False
    )
    if not done.stdout.startswith("{"):
        raise SystemExit(done.stderr)
    said = json.loads(done.stdout)
    if said["interrupted"]:
        raise SystemExit("interrupted: the same command continues")
    twin = said.get("twin") or {"changes": [], "rounds": 0}
    return {
        "planted": share,
        "margin": margin,
        "minutes": minutes,
        "took_s": round(time.monotonic() - begin, 1),
        "code": done.returncode,
        "standing": said["standing"],
        "rounds": said["rounds"],
        "outcomes": {c["figure"]: c["outcome"] for c in said["changes"]},
        "intervals": {c["figure"]: [c["low"], c["high"]] for c in said["changes"]},
        "twin_rounds": twin["rounds"],
        "twin": {c["figure"]: [c["low"], c["high"]] for c in twin["changes"]},
    }


def table(counts: list[dict[str, Any]]) -> Iterator[str]:
    """The counts by planted share."""
    for share in sorted({one["planted"] for one in counts}):
        own = [one for one in counts if one["planted"] == share]
        said = {s: sum(o["standing"] == s for o in own) for s in sorted({o["standing"] for o in own})}
        bound = f"; worse in at most {greatest_chance(said.get('worse', 0), len(own), 0.95):.1%}" if not share else ""
        median_s = sorted(one["took_s"] for one in own)[len(own) // 2]
        yield f"planted {share:.0%}: {len(own)} gates, {said}, median {median_s:.0f} s{bound}"


def main() -> int:
    """Run what is left to run, and print the counts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--gates", type=int, default=300)
    parser.add_argument("--planted", type=float, nargs="+", default=[0.0, 0.05])
    parser.add_argument("--margin", default="3%")
    parser.add_argument("--minutes", type=float, default=1.5)
    options = parser.parse_args()
    top, file = options.folder / "repository", options.folder / "counts.jsonl"
    if not top.exists():
        repository(top, options.planted)
    known = [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
    terms = {"margin": options.margin, "minutes": options.minutes}
    counts = [one for one in known if terms.items() <= one.items()]
    for number in range(options.gates):
        for share in options.planted:
            if sum(one["planted"] == share for one in counts) > number:
                continue
            counts.append(gate(top, share, options.margin, options.minutes))
            with file.open("a", encoding="utf-8") as stream:
                stream.write(json.dumps(counts[-1]) + "\n")
            print(*table(counts), sep="\n", flush=True)
    print(*table(counts), sep="\n")
    return 0


def _tag(share: float) -> str:
    return f"planted-{round(share * 1000)}"


def _commit(folder: Path, tag: str) -> None:
    _git(folder, "add", "--all")
    _git(folder, "commit", "--quiet", "-m", tag)
    _git(folder, "tag", tag)


def _git(folder: Path, *words: str) -> None:
    subprocess.run(["git", "-C", str(folder), *words], env=os.environ | _GIT, check=True)


if __name__ == "__main__":
    sys.exit(main())
