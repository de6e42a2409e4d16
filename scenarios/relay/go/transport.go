//go:build !idle_conns_0

package main

import "net/http"

// limitPool sizes the pool: as many connections as are stated, and all of them kept.
func limitPool(transport *http.Transport, pool int) {
	transport.MaxConnsPerHost = pool
	transport.MaxIdleConnsPerHost = pool
	transport.MaxIdleConns = 0 // no limit over all hosts: there is one
}
