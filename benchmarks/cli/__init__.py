"""What the command line costs before it does anything."""
