package main

import (
	"fmt"
	"net"
	"os"
	"strconv"
	"time"
)

type config struct {
	address  string
	database databaseConfig
}

type databaseConfig struct {
	path        string
	pool        int
	busyTimeout time.Duration
}

func configFromEnv() (config, error) {
	pool, err := positiveInt("DATABASE_POOL", 10)
	if err != nil {
		return config{}, err
	}
	busy, err := positiveInt("DATABASE_BUSY_TIMEOUT_MS", 10_000)
	if err != nil {
		return config{}, err
	}
	return config{
		address: net.JoinHostPort(env("HOST", "127.0.0.1"), env("PORT", "8080")),
		database: databaseConfig{
			path:        env("DATABASE_PATH", "users.db"),
			pool:        pool,
			busyTimeout: time.Duration(busy) * time.Millisecond,
		},
	}, nil
}

func env(name, otherwise string) string {
	if value := os.Getenv(name); value != "" {
		return value
	}
	return otherwise
}

func positiveInt(name string, otherwise int) (int, error) {
	value := env(name, strconv.Itoa(otherwise))
	n, err := strconv.Atoi(value)
	if err != nil || n < 1 {
		return 0, fmt.Errorf("%s is %q: give a whole number above 0", name, value)
	}
	return n, nil
}
