"""The same run on the nodes of a Ray cluster. Nothing here is imported without `--cluster`."""
