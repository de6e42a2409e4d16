"""The contract, before anything is timed."""
