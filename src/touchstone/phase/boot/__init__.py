"""From exec to the first valid response."""
