#!/usr/bin/env bash
# Go net/http 1.26: Shutdown takes five seconds if a client has connected and sent nothing, and no time if none has
#
# A connection in StateNew counts as busy until it is 5 s old. A load balancer that opens connections ahead of need adds them to
# each deployment.
source "$(dirname "$0")/common"
go_126
cat > main.go <<'GO'
package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"time"
)

func ends(connect bool) string {
	listener, _ := net.Listen("tcp", "127.0.0.1:0")
	server := &http.Server{}
	go func() { _ = server.Serve(listener) }()
	if connect {
		client, _ := net.Dial("tcp", listener.Addr().String())
		defer client.Close()
		time.Sleep(100 * time.Millisecond)
	}
	begin := time.Now()
	_ = server.Shutdown(context.Background())
	took := time.Since(begin).Seconds()
	if took > 4.9 && took < 6.9 {
		return "5 to 6 s"
	}
	return fmt.Sprintf("%.0f s", took)
}

func main() { fmt.Printf("no client: %s, a silent client: %s\n", ends(false), ends(true)) }
GO
compare "no client: 0 s, a silent client: 5 to 6 s" "$(go run main.go)"
