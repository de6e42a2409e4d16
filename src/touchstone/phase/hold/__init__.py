"""Memory against connections."""
