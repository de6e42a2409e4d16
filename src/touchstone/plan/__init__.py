"""What a run is to do: profiles, placement on CPUs, the plan."""
