"""The disturb phase: what a failing dependency costs."""
