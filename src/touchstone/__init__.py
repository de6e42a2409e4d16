"""touchstone: a benchmark lab for HTTP service stacks that refuses bad numbers."""

from importlib.metadata import version

__version__ = version("touchstone")
