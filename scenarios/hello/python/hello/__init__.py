"""GET /hello on granian."""
