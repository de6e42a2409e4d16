"""Keeps what is measured apart from what measures: CPU sets, cgroups, process groups, ports, limits."""
