"""Drafts from HAR files, which browsers and proxies write."""
