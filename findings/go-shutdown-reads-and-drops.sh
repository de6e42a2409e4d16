#!/usr/bin/env bash
# Go net/http 1.26: a first request that comes while Shutdown waits, on a connection accepted before, is read and dropped
#
# Shutdown waits for requests in flight. A client that has connected in time and sends its request while Shutdown waits is
# not one of them: the server reads the whole request, runs no handler, and closes. The client sees an end without a response,
# and not the reset that says "nobody read this, send it again".
source "$(dirname "$0")/common"
go_126
cat > main.go <<'GO'
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"syscall"
	"time"
)

func main() {
	served := 0
	slow := make(chan struct{})
	mux := http.NewServeMux()
	mux.HandleFunc("/slow", func(w http.ResponseWriter, _ *http.Request) { close(slow); time.Sleep(time.Second); fmt.Fprint(w, "slow") })
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { served++; fmt.Fprint(w, "ok") })
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	server := &http.Server{Handler: mux}
	go server.Serve(listener)
	ask := func(connection net.Conn, path string) { fmt.Fprintf(connection, "GET %s HTTP/1.1\r\nHost: a\r\n\r\n", path) }
	dial := func() net.Conn {
		connection, err := net.Dial("tcp", listener.Addr().String())
		if err != nil {
			panic(err)
		}
		return connection
	}
	first, late := dial(), dial()
	ask(first, "/slow")
	<-slow
	time.Sleep(100 * time.Millisecond) // The second connection has been accepted by then.
	done := make(chan error)
	go func() { done <- server.Shutdown(context.Background()) }()
	time.Sleep(200 * time.Millisecond)
	ask(late, "/")
	answer, err := io.ReadAll(late)
	how := "closed"
	if errors.Is(err, syscall.ECONNRESET) {
		how = "reset"
	}
	inFlight := make([]byte, 12)
	io.ReadFull(first, inFlight)
	fmt.Printf("late request: %s after %d bytes, handlers run: %d, request in flight: %s, Shutdown: %v\n", how, len(answer), served, inFlight, <-done)
}
GO
compare "late request: closed after 0 bytes, handlers run: 0, request in flight: HTTP/1.1 200, Shutdown: <nil>" \
  "$(go run main.go)"
