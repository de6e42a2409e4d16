"""The training run of a variant with an AOT cache (JEP 483, 514 and 515).

The JVM watches itself while touchstone checks the contract, and when it is asked to end it writes what it has seen
(loaded and linked classes, method profiles) into the cache file. That is the last part of the build, and its sample
belongs to the build; it needs running dependencies, so it comes after they have started.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

from touchstone.bench.artifact_files import artifact_bytes, artifact_files
from touchstone.bench.artifact_identity import digests, is_code_cache
from touchstone.bench.base import Bench, Built, Stopwatch, sampling
from touchstone.bench.service import running
from touchstone.contract.checker import ContractChecker
from touchstone.failure import TouchstoneError
from touchstone.manifest.catalogue import Contender
from touchstone.phase.base import Phase
from touchstone.phase.build.kept import recorded
from touchstone.record.base import Record
from touchstone.record.evidence.train import TrainEvidence
from touchstone.record.sample import Sample
from touchstone.vocabulary.phase import PHASES, PhaseKind

_RECORD = "train.json"
_PATIENCE_S = 180.0
"""The cache is assembled by a second JVM after SIGTERM; the first waits for it."""


class TrainError(TouchstoneError):
    """The training run left no cache, or broke the contract."""


class TrainPhase(Phase):
    """Runs a contender's `train` command under the contract check, unless its result exists."""

    kind: ClassVar[PhaseKind] = PHASES["train"]

    def takes(self, contender: Contender) -> bool:
        """Only what has a training run."""
        return contender.outside is None and contender.variant.train is not None

    def stage(self, contenders: Sequence[Contender]) -> str:
        """The contender that is trained."""
        return f"training {', '.join(contender.name for contender in contenders)}"

    def measure(self, bench: Bench, contender: Contender, round_number: int | None, position: int) -> list[Sample]:
        """Measure the training run's time, and the bytes of all artifacts after it."""
        built = bench.builds[contender.name]
        with sampling(bench, "build", contender.name) as sample:
            bench.watcher.step(f"training {contender.name}")
            record = built.work.parent / _RECORD
            kept = recorded(record, _Trained) if not bench.options.fresh_builds and not _absent(built) else None
            if kept is not None and kept.program == _program(built):
                sample.evidence = TrainEvidence(cached=True)
            else:
                sample.evidence = TrainEvidence(cached=False)
                kept = _Trained(train_time=_train(bench, built, sample), program=_program(built))
                record.write_text(kept.model_dump_json(), encoding="utf-8")
            sample.figures["train_time"] = kept.train_time
            sample.figures["artifact_bytes"] = float(artifact_bytes(built.artifacts))
        return [sample]


def _train(bench: Bench, built: Built, sample: Sample) -> float:
    assert built.train is not None
    for path in _caches(built):
        # An old one would be taken for what this training run leaves.
        path.unlink()
    for path in _absent(built):
        path.parent.mkdir(parents=True, exist_ok=True)
    watch = Stopwatch()
    with running(bench, replace(built, argv=built.train), sample.process, patience_s=_PATIENCE_S) as contender:
        checker = ContractChecker(contender.service, bench.dependencies, bench.seed)
        broken = [
            check for check in checker.run(bench.scenario.contract_over(bench.scenario.protocol)) if not check.passed
        ]
    taken = watch.seconds
    if broken:
        raise TrainError(
            f"the training run broke its contract: {broken[0].says}",
            fix="fix the variant's `train` command: it must start the same service as `run`",
        )
    if absent := _absent(built):
        raise TrainError(
            f"the training run ended ({sample.process.stopped}) and left no {absent[0].name}",
            fix="name the file in -XX:AOTCacheOutput and in `artifacts` alike, and see its log",
        )
    return taken


class _Trained(Record):
    """What is kept of a training run."""

    train_time: float
    program: dict[str, str]
    """SHA-256 of each file that it ran. A JVM runs what is in the cache, whatever the jar holds by now (JDK 25)."""


def _program(built: Built) -> dict[str, str]:
    caches = set(_caches(built))
    files = (path for path in artifact_files(built.artifacts) if path not in caches and not path.is_symlink())
    return {str(path.relative_to(built.work)): digest for path in files for digest in digests([path]).values()}


def _caches(built: Built) -> list[Path]:
    files = (path for path in artifact_files(built.artifacts) if path.is_file() and not path.is_symlink())
    return [path for path in files if is_code_cache(path)]


def _absent(built: Built) -> list[Path]:
    return [path for path in built.artifacts if not path.exists()]
