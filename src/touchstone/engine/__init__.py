"""Hands jobs to the engine and reads its results. The protocol: docs/engine-protocol.md."""
