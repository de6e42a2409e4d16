package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"time"
)

// errTooSlow is a downstream that did not answer in time.
var errTooSlow = errors.New("the downstream did not answer in time")

type downstream struct {
	client  *http.Client
	url     string
	timeout time.Duration
}

func newDownstream(cfg downstreamConfig) *downstream {
	dialer := &net.Dialer{Timeout: cfg.timeout, KeepAlive: 30 * time.Second}
	transport := &http.Transport{
		DialContext:           dialer.DialContext,
		IdleConnTimeout:       90 * time.Second,
		ResponseHeaderTimeout: cfg.timeout,
		DisableCompression:    true,
	}
	limitPool(transport, cfg.pool)
	return &downstream{&http.Client{Transport: transport}, cfg.url + "/echo", cfg.timeout}
}

// call gets /echo; a message's id goes along where there is one. Any status but 200 is an error.
func (d *downstream) call(ctx context.Context, id string) error {
	ctx, cancel := context.WithTimeout(ctx, d.timeout)
	defer cancel()
	target := d.url
	if id != "" {
		target += "?id=" + url.QueryEscape(id)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, target, nil)
	if err != nil {
		return err
	}
	response, err := d.client.Do(request)
	if err != nil {
		return inTime(err)
	}
	defer response.Body.Close()
	// A connection is kept only when its answer was read to the end.
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		return inTime(err)
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("the downstream answered %s", response.Status)
	}
	return nil
}

func inTime(err error) error {
	if errors.Is(err, context.DeadlineExceeded) || os.IsTimeout(err) {
		return fmt.Errorf("%w: %w", errTooSlow, err)
	}
	return err
}
