"""Where the CPU of a request goes: passes at a rate that all serve, sampled stacks, and counts."""
