"""Commands that measure what the project claims of itself: `python -m benchmarks.NAME`."""
