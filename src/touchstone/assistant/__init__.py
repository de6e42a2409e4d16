"""Tools for assistants over the Model Context Protocol; only `touchstone mcp` imports it."""
