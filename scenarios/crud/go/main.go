// Command crud stores a user in PostgreSQL, reads it back, deletes it and answers what it read.
package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/valyala/fasthttp"
)

// drainLimit leaves a second of the five that the start contract grants.
const drainLimit = 4 * time.Second

func main() {
	slog.SetDefault(slog.New(slog.NewTextHandler(os.Stderr, nil)))
	if err := run(); err != nil {
		slog.Error("crud cannot go on", "err", err)
		os.Exit(1)
	}
}

func run() error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()

	cfg, err := configFromEnv()
	if err != nil {
		return err
	}
	users, err := openStore(cfg.database)
	if err != nil {
		return fmt.Errorf("open the database: %w", err)
	}
	defer users.close()

	listener, err := net.Listen("tcp", cfg.address)
	if err != nil {
		return err
	}
	server := newServer(cfg, users)
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	slog.Info("listening", "address", listener.Addr().String())

	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	deadline, cancel := context.WithTimeout(context.Background(), drainLimit)
	defer cancel()
	if err := server.ShutdownWithContext(deadline); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return nil
}

func newServer(cfg config, users *store) *fasthttp.Server {
	return &fasthttp.Server{
		Handler:               newHandler(users),
		ErrorHandler:          refuse,
		MaxRequestBodySize:    maxBody,
		ReadTimeout:           cfg.readTimeout,
		WriteTimeout:          cfg.readTimeout,
		IdleTimeout:           cfg.idleTimeout,
		NoDefaultServerHeader: true,
		CloseOnShutdown:       true,
		Logger:                quiet{},
	}
}

// quiet drops fasthttp's own lines about clients that break off: they are the clients' affair.
type quiet struct{}

func (quiet) Printf(string, ...any) {}
