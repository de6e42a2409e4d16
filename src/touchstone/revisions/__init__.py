"""Two revisions of a git repository as two contenders of one run."""
