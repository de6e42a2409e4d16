"""Puts a `native-image` together where no GraalVM is installed: see docs/native-image.md."""
