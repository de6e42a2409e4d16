"""Drafts of stacks for services that are there already: one module a kind of build tool."""
