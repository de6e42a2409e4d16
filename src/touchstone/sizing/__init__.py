"""The smallest container that serves a rate within an objective, for `touchstone size`."""
