"""The commands, one file each. A command parses its arguments, calls another package and prints the result."""
