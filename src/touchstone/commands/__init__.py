"""Command lines read: what they say of how a program was built and started."""
