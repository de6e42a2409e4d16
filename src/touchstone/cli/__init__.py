"""The commands: one file each, thin. They parse, call and print."""
