package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"time"
)

type config struct {
	address     string
	readTimeout time.Duration
	idleTimeout time.Duration
	downstream  downstreamConfig
	kafka       kafkaConfig
}

type downstreamConfig struct {
	url     string
	pool    int
	timeout time.Duration
}

type kafkaConfig struct {
	bootstrap      []string
	topic          string
	group          string
	commitEvery    int
	sessionTimeout time.Duration
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
	required := func(name, example string) string {
		value := os.Getenv(name)
		if value == "" {
			problems = append(problems, fmt.Errorf("%s is not set: give %s", name, example))
		}
		return value
	}
	cfg := config{
		address:     net.JoinHostPort(env("HOST", "127.0.0.1"), env("PORT", "8080")),
		readTimeout: milliseconds("HTTP_READ_TIMEOUT_MS", 10_000),
		idleTimeout: milliseconds("HTTP_IDLE_TIMEOUT_MS", 60_000),
		downstream: downstreamConfig{
			url:     strings.TrimSuffix(required("DOWNSTREAM_URL", "http://host:port"), "/"),
			pool:    number("DOWNSTREAM_POOL", 256),
			timeout: milliseconds("DOWNSTREAM_TIMEOUT_MS", 5_000),
		},
		kafka: kafkaConfig{
			bootstrap:      strings.Split(required("KAFKA_BOOTSTRAP", "host:port"), ","),
			topic:          env("KAFKA_TOPIC", "benchmark-topic"),
			group:          env("KAFKA_GROUP", "relay"),
			commitEvery:    number("KAFKA_COMMIT_EVERY", 20),
			sessionTimeout: milliseconds("KAFKA_SESSION_TIMEOUT_MS", 10_000),
		},
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
