// Command hello serves GET /hello with net/http, its timeouts on: over HTTP/1.1 and HTTP/2, with TLS where it has a
// certificate.
package main

import (
	"context"
	"errors"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"time"
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

	listener, err := listen(ctx, config.address)
	if err != nil {
		return err
	}
	log.Printf("listening on %s", listener.Addr())

	server := &http.Server{
		Handler:           routes(),
		ReadHeaderTimeout: config.requestTimeout,
		ReadTimeout:       config.requestTimeout,
		WriteTimeout:      config.writeTimeout,
		IdleTimeout:       config.idleTimeout,
		Protocols:         new(http.Protocols),
	}
	server.Protocols.SetHTTP1(true)
	server.Protocols.SetHTTP2(true)
	server.Protocols.SetUnencryptedHTTP2(true)
	drained := make(chan error, 1)
	go func() {
		<-ctx.Done()
		limit, cancel := context.WithTimeout(context.Background(), drainTime)
		defer cancel()
		drained <- server.Shutdown(limit)
	}()
	if err := serveOn(server, listener, config); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return <-drained
}

func serveOn(server *http.Server, listener net.Listener, config config) error {
	if config.certificate == "" {
		return server.Serve(listener)
	}
	return server.ServeTLS(listener, config.certificate, config.key)
}

func routes() http.Handler {
	body := []byte("Hello, world!")
	mux := http.NewServeMux()
	mux.HandleFunc("GET /hello", func(response http.ResponseWriter, _ *http.Request) {
		response.Header().Set("Content-Type", "text/plain")
		_, _ = response.Write(body)
	})
	return mux
}
