"""How each language's tools are found, and how to get them."""
