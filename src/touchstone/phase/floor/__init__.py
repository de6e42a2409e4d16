"""The smallest memory limit that is enough."""
