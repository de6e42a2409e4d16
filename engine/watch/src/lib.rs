//! Watching a process tree: memory, CPU, threads and descriptors, and catching a first response.
