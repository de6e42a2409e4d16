"""Messages: lost, doubled, out of order."""
