"""Whether mote is as small and quick as it should be."""
