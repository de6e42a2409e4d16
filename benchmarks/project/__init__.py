"""What the project itself costs: set-up, tests, reports."""
