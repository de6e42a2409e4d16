//go:build pool_from_cores

package main

import "runtime"

// The defect: the host's cores decide, whatever the database was told to expect and whatever share of the host is ours.
func poolSize(databaseConfig) int32 { return int32(max(4, runtime.NumCPU())) }
