"""Claims and their verdicts on the terminal, as pages, and in a post. It computes no figure."""
