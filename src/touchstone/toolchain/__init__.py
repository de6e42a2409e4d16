"""Finds the tools that stacks are built with, says their versions, and how to get what is missing."""
