"""Load on services that run: the one sequence of preparation, job, watches, load, proofs and checks."""
