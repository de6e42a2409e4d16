"""Drafts of scenarios from what others describe or record: OpenAPI documents and HAR files."""
