// Command hello serves GET /hello with fasthttp, its timeouts on.
package main

import (
	"context"
	"errors"
	"log"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"time"

	"github.com/valyala/fasthttp"
	"github.com/valyala/fasthttp/reuseport"
)

// drainTime is how long requests under way may take after the signal.
const drainTime = 9 * time.Second

func main() {
	log.SetFlags(0)
	log.SetPrefix("hello: ")
	if err := serve(); err != nil {
		log.Fatal(err)
	}
}

func serve() error {
	config, err := configFromEnvironment()
	if err != nil {
		return err
	}
	if config.workers > 0 {
		runtime.GOMAXPROCS(config.workers)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()

	// With SO_REUSEPORT several processes can share the port.
	listener, err := reuseport.Listen("tcp4", config.address)
	if err != nil {
		return err
	}
	log.Printf("listening on %s", listener.Addr())

	server := &fasthttp.Server{
		Handler:               answer,
		ReadTimeout:           config.requestTimeout,
		WriteTimeout:          config.writeTimeout,
		IdleTimeout:           config.idleTimeout,
		NoDefaultServerHeader: true,
		CloseOnShutdown:       true,
		Logger:                quiet{},
	}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	limit, cancel := context.WithTimeout(context.Background(), drainTime)
	defer cancel()
	if err := server.ShutdownWithContext(limit); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return nil
}

func answer(ctx *fasthttp.RequestCtx) {
	switch {
	case string(ctx.Path()) != "/hello":
		ctx.SetStatusCode(fasthttp.StatusNotFound)
	case !ctx.IsGet() && !ctx.IsHead():
		ctx.SetStatusCode(fasthttp.StatusMethodNotAllowed)
		ctx.Response.Header.Set(fasthttp.HeaderAllow, "GET, HEAD")
	default:
		ctx.SetContentType("text/plain")
		ctx.SetBodyString("Hello, world!")
	}
}

// quiet drops fasthttp's own lines about clients that break off: they are the clients' affair.
type quiet struct{}

func (quiet) Printf(string, ...any) {}
