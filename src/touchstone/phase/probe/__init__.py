"""HTTP/1.1 conformance."""
