"""Explanations of CPU per request, as text, as a part of the page, and in the formats of flame graph viewers."""
