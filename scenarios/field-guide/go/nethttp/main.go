// Command nethttp is net/http with no setting but its handler, and the stop that its documentation shows.
package main

import (
	"context"
	"errors"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func hello(response http.ResponseWriter, _ *http.Request) {
	response.Header().Set("Content-Type", "text/plain")
	_, _ = response.Write([]byte("Hello, world!"))
}

func main() {
	mux := http.NewServeMux()
	mux.HandleFunc("/hello", hello)
	mux.HandleFunc("/slow", func(response http.ResponseWriter, request *http.Request) {
		time.Sleep(time.Second)
		hello(response, request)
	})
	server := &http.Server{Addr: net.JoinHostPort(os.Getenv("HOST"), os.Getenv("PORT")), Handler: mux}
	stopped := make(chan error, 1)
	go func() {
		ctx, cancel := signal.NotifyContext(context.Background(), syscall.SIGTERM)
		defer cancel()
		<-ctx.Done()
		stopped <- server.Shutdown(context.Background())
	}()
	if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		log.Fatal(err)
	}
	if err := <-stopped; err != nil {
		log.Fatal(err)
	}
}
