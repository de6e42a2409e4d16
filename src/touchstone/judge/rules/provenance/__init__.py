"""Whether what was measured is what is named."""
