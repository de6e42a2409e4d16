"""The downstream as a dependency: answers after a delay, counts what reaches it, and fails on demand."""

from touchstone.dependency.echo.dependency import Echo

__all__ = ["Echo"]
