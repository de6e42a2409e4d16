"""Any program as a dependency: a cache, a database or a downstream of one's own, by the command that starts it."""

from touchstone.dependency.process.dependency import Program

__all__ = ["Program"]
