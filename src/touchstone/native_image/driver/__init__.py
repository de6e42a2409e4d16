"""The `native-image` program of an assembled builder: turns its command line into the builder's own.

This folder is copied into the assembled builder and runs there by itself, so it imports nothing but the standard
library and its own modules.
"""
