"""What the machine did meanwhile."""
