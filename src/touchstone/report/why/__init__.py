"""Explanations of CPU per request as text, page section and flame graph formats."""
