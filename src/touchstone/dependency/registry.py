"""From a kind of dependency to its class."""

from __future__ import annotations

from importlib import import_module

from touchstone.dependency.base import Dependency
from touchstone.vocabulary.dependency import DEPENDENCIES


def dependency_class(kind: str) -> type[Dependency]:
    """The class of a kind. Imported when first used, so that a client library is not needed by those who lack it."""
    module, _, name = DEPENDENCIES[kind].place.partition(":")
    found: type[Dependency] = getattr(import_module(module), name)
    return found
