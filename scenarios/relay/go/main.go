// Command relay calls a downstream for each request that comes by HTTP and for each message that comes by Kafka.
package main

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// drainLimit is what requests under way get of the ten seconds that the start contract grants.
const drainLimit = 8 * time.Second

func main() {
	slog.SetDefault(slog.New(slog.NewTextHandler(os.Stderr, nil)))
	if err := run(); err != nil {
		slog.Error("relay cannot go on", "err", err)
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
	target, counts := newDownstream(cfg.downstream), newStats()
	listener, err := net.Listen("tcp", cfg.address)
	if err != nil {
		return err
	}
	server := &http.Server{
		Handler:           newHandler(target, counts),
		ReadHeaderTimeout: cfg.readTimeout,
		WriteTimeout:      cfg.readTimeout,
		IdleTimeout:       cfg.idleTimeout,
	}
	failed := make(chan error, 2)
	go func() { failed <- server.Serve(listener) }()
	slog.Info("listening", "address", listener.Addr().String())

	consuming := make(chan struct{})
	go func() {
		defer close(consuming)
		if err := consume(ctx, cfg.kafka, &work{target, counts}); err != nil {
			failed <- err
		}
	}()

	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	deadline, cancel := context.WithTimeout(context.Background(), drainLimit)
	defer cancel()
	if err := server.Shutdown(deadline); err != nil {
		slog.Warn("closing what is still open", "err", err)
		_ = server.Close()
	}
	<-consuming
	return nil
}
