"""Packs a run: its records, its judgement, and a manifest of hashes."""

from __future__ import annotations

import hashlib
from pathlib import Path

import touchstone
from touchstone.bundle.archive import JUDGEMENT, Manifest, packed
from touchstone.judge.judge import judge
from touchstone.record.run import Run
from touchstone.record.store import REVISIONS, load_run
from touchstone.run.fingerprint import lab_revision
from touchstone.whole_file import write_whole


def pack(folder: Path, out: Path) -> Manifest:
    """Write the run of a folder into one file. Raises UsageError or StoreError for no run, or one that is damaged."""
    run = load_run(folder)
    names = ["plan.json", "environment.json", "state.json", *([REVISIONS] if (folder / REVISIONS).is_file() else [])]
    names += [f"samples/{path.name}" for path in sorted((folder / "samples").glob("*.json"))]
    files = {name: (folder / name).read_bytes() for name in names}
    files[JUDGEMENT] = judge(run).model_dump_json(by_alias=True).encode()
    manifest = manifest_of(run, files)
    write_whole(out, packed(manifest, files))
    return manifest


def manifest_of(run: Run, files: dict[str, bytes]) -> Manifest:
    """The manifest of a run with these files."""
    return Manifest(
        run=run.plan.run_id,
        scenario=run.plan.scenario,
        scenario_version=run.plan.scenario_version,
        touchstone_version=touchstone.__version__,
        touchstone_revision=lab_revision(),
        engine_version=run.environment.engine_version,
        engine_sha256=run.environment.engine_sha256,
        sources={sample.contender: sample.build.key for sample in run.samples if sample.build is not None},
        files={name: hashlib.sha256(content).hexdigest() for name, content in sorted(files.items())},
    )
