"""Many machines: needs root, network namespaces and Ray; `make test-cluster`."""
