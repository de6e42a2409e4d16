"""The result on disk: what a run planned, where it ran, and one record a sample. Schema: docs/results-format.md."""
