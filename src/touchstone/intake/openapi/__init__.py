"""Drafts of scenarios from OpenAPI documents."""
