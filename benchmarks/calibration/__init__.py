"""How often the judge is right, on simulated, recorded and planted differences."""
