"""What a function's time is spent for: tables of patterns, a file for each language, and how they are read."""
