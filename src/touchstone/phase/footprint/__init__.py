"""All that is needed on an empty Linux."""
