"""Words that every room uses, each declared once."""
