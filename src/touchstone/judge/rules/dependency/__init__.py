"""What the contender talks to: settings, saturation, proof of work."""
