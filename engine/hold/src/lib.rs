//! Holding many connections, and reading the memory of server and kernel at each level.
