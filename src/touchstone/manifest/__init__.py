"""scenario.toml and stack.toml as typed models; every error names the file, the key and the fix."""
