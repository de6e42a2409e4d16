"""Conformance to HTTP/1.1 or HTTP/2."""
