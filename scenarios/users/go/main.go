// Command users registers names in an SQLite database and finds them again.
package main

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// drainLimit leaves a second of the five that the start contract grants.
const drainLimit = 4 * time.Second

func main() {
	slog.SetDefault(slog.New(slog.NewTextHandler(os.Stderr, nil)))
	if err := run(); err != nil {
		slog.Error("users cannot go on", "err", err)
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
	users, err := openStore(ctx, cfg.database)
	if err != nil {
		return fmt.Errorf("open the database %s: %w", cfg.database.path, err)
	}
	defer users.close()

	listener, err := net.Listen("tcp", cfg.address)
	if err != nil {
		return err
	}
	server := &http.Server{Handler: newHandler(users), ReadHeaderTimeout: 10 * time.Second}
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
	if err := server.Shutdown(deadline); err != nil {
		// Shutdown counts a connection that has sent nothing yet as busy; those are cut off.
		slog.Warn("closing what is still open", "err", err)
		return server.Close()
	}
	return nil
}
