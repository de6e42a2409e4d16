"""One file that holds a run, for others to check: its archive, its consistency, and its verdicts judged again."""
