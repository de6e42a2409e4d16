"""The stop phase: what a deployment costs."""
