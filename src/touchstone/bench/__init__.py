"""A contender that runs, and what surrounds it: service, watches, readiness, tares, identity of its artifacts."""
