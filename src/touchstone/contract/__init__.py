"""The contract check: shows that a service does what its scenario says, before anything is timed."""
