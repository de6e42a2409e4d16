"""Statuses of HTTP responses that several rooms ask about."""

REDIRECTS = frozenset({301, 302, 303, 307, 308})
"""The statuses that lead to another place (RFC 9110, section 15.4)."""
