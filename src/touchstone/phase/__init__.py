"""build, boot, verify, load, ...: one file each, one shape. A phase measures; it never judges."""
