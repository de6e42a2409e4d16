"""What samples and counts: perf, strace and valgrind. async-profiler is a library, and has a getter of its own."""

from __future__ import annotations

from touchstone.toolchain.tool import Tool

TOOLS = (
    Tool("perf", ("--version",), r"perf version (\d+(?:\.\d+)*)", "install it by `apt-get install linux-perf`"),
    Tool("strace", ("--version",), r"version (\d+(?:\.\d+)*)", "install it by `apt-get install strace`"),
    Tool("valgrind", ("--version",), r"valgrind-(\d+(?:\.\d+)*)", "install it by `apt-get install valgrind`"),
)
