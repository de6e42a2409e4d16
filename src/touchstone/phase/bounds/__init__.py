"""The bounds phase: what a server allows one connection and one request."""
