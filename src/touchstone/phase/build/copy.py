"""A copy of a contender, built as a profiler needs it: with symbols, line tables and frame pointers."""

from __future__ import annotations

from pathlib import Path

from touchstone.bench.base import Bench, Built
from touchstone.manifest.catalogue import Contender
from touchstone.manifest.stack import Variant
from touchstone.phase.build.phase import build_variant, built_of
from touchstone.record.sample import Sample


def build_copy(bench: Bench, contender: Contender, sample: Sample, log: Path) -> Built:
    """Build the variant and its bases as their `profiled` say. From the cache if that was done. Raises BuildError."""
    stack = contender.stack
    changed = {name: _changed(variant) for name, variant in stack.variants.items()}
    copied = Contender(stack.model_copy(update={"variants": changed}), contender.variant_name)
    built_as = sample.model_copy(deep=True)
    return built_of(copied, build_variant(bench, copied.stack, contender.variant_name, built_as, log))


def _changed(variant: Variant) -> Variant:
    asked = variant.profiled
    if asked is None:
        return variant
    commands = variant.build if asked.build is None else asked.build
    return variant.model_copy(update={"build": commands, "build_env": variant.build_env | asked.build_env})
