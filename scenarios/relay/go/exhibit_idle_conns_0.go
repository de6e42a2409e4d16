//go:build idle_conns_0

package main

import "net/http"

// limitPool holds the exhibit's defect: 0 idle connections a host reads like "no limit" and means the default of 2, so that
// all but two connections are closed as soon as their answer has been read.
func limitPool(transport *http.Transport, pool int) {
	transport.MaxConnsPerHost = pool
	transport.MaxIdleConnsPerHost = 0
}
