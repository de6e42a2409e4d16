package main

import (
	"fmt"
	"net"
	"os"
	"strconv"
	"time"
)

type config struct {
	address        string
	workers        int // 0 leaves GOMAXPROCS as it is
	requestTimeout time.Duration
	idleTimeout    time.Duration
	writeTimeout   time.Duration
	certificate    string // a file in PEM, and its key; empty for plain HTTP
	key            string
}

// configFromEnvironment reads HOST, PORT, WORKERS, the timeouts, TLS_CERT and TLS_KEY; the error names the variable.
func configFromEnvironment() (config, error) {
	var c config
	host := os.Getenv("HOST")
	if host == "" {
		host = "127.0.0.1"
	}
	var port, request, idle, write int
	for _, v := range []struct {
		name  string
		value *int
		unset int
	}{
		{"PORT", &port, 8080},
		{"WORKERS", &c.workers, 0},
		{"REQUEST_TIMEOUT_MS", &request, 10_000},
		{"IDLE_TIMEOUT_MS", &idle, 60_000},
		{"WRITE_TIMEOUT_MS", &write, 10_000},
	} {
		*v.value = v.unset
		text := os.Getenv(v.name)
		if text == "" {
			continue
		}
		number, err := strconv.Atoi(text)
		if err != nil || number < 0 {
			return c, fmt.Errorf("%s=%s: give a whole number of 0 or more", v.name, text)
		}
		*v.value = number
	}
	c.certificate, c.key = os.Getenv("TLS_CERT"), os.Getenv("TLS_KEY")
	c.address = net.JoinHostPort(host, strconv.Itoa(port))
	c.requestTimeout = time.Duration(request) * time.Millisecond
	c.idleTimeout = time.Duration(idle) * time.Millisecond
	c.writeTimeout = time.Duration(write) * time.Millisecond
	return c, nil
}
