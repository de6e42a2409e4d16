"""The contender's processes: confinement, resources, life and death."""
