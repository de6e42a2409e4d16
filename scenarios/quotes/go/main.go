// Command quotes answers with quotes: JSON and server-sent events by net/http on PORT, gRPC by grpc-go on GRPC_PORT.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"google.golang.org/grpc"

	"touchstone/quotes/pb"
)

// drainTime is how long requests under way may take after the signal.
const drainTime = 5 * time.Second

func main() {
	log.SetFlags(0)
	log.SetPrefix("quotes: ")
	if err := serve(); err != nil {
		log.Fatal(err)
	}
}

func serve() error {
	if workers, err := whole("WORKERS", 0); err != nil {
		return err
	} else if workers > 0 {
		runtime.GOMAXPROCS(workers)
	}
	forHTTP, err := listen("PORT", 8080)
	if err != nil {
		return err
	}
	forRPC, err := listen("GRPC_PORT", 50051)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()

	web := &http.Server{Handler: routes(), Protocols: new(http.Protocols)}
	web.Protocols.SetHTTP1(true)
	web.Protocols.SetUnencryptedHTTP2(true)
	rpc := grpc.NewServer()
	pb.RegisterQuotesServer(rpc, service{})
	ended := make(chan error, 2)
	go func() { ended <- web.Serve(forHTTP) }()
	go func() { ended <- rpc.Serve(forRPC) }()
	log.Printf("listening on %s, for gRPC on %s", forHTTP.Addr(), forRPC.Addr())
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	limit, cancel := context.WithTimeout(context.Background(), drainTime)
	defer cancel()
	context.AfterFunc(limit, rpc.Stop)
	rpc.GracefulStop()
	if err := web.Shutdown(limit); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return nil
}

func listen(variable string, unset int) (net.Listener, error) {
	port, err := whole(variable, unset)
	if err != nil {
		return nil, err
	}
	host := os.Getenv("HOST")
	if host == "" {
		host = "127.0.0.1"
	}
	return net.Listen("tcp", net.JoinHostPort(host, strconv.Itoa(port)))
}

func whole(variable string, unset int) (int, error) {
	text := os.Getenv(variable)
	if text == "" {
		return unset, nil
	}
	number, err := strconv.Atoi(text)
	if err != nil || number < 0 {
		return 0, fmt.Errorf("%s=%s: give a whole number of 0 or more", variable, text)
	}
	return number, nil
}
