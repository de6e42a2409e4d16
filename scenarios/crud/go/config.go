package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"time"
)

type config struct {
	address     string
	readTimeout time.Duration
	idleTimeout time.Duration
	database    databaseConfig
}

type databaseConfig struct {
	url     string
	pool    int
	timeout time.Duration
}

func configFromEnv() (config, error) {
	var problems []error
	number := func(name string, otherwise int) int {
		n, err := positiveInt(name, otherwise)
		problems = append(problems, err)
		return n
	}
	milliseconds := func(name string, otherwise int) time.Duration {
		return time.Duration(number(name, otherwise)) * time.Millisecond
	}
	cfg := config{
		address:     net.JoinHostPort(env("HOST", "127.0.0.1"), env("PORT", "8080")),
		readTimeout: milliseconds("HTTP_READ_TIMEOUT_MS", 10_000),
		idleTimeout: milliseconds("HTTP_IDLE_TIMEOUT_MS", 60_000),
		database: databaseConfig{
			url:     os.Getenv("DATABASE_URL"),
			pool:    number("DATABASE_POOL", 8),
			timeout: milliseconds("DATABASE_TIMEOUT_MS", 10_000),
		},
	}
	if cfg.database.url == "" {
		problems = append(problems, errors.New("DATABASE_URL is not set: give postgres://user:password@host:port/database"))
	}
	return cfg, errors.Join(problems...)
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
