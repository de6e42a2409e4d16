//go:build !pool_from_cores

package main

func poolSize(cfg databaseConfig) int32 { return int32(cfg.pool) }
