"""Memory: limits, growth, and what RSS does not show."""
