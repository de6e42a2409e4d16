// Command fasthttp is fasthttp with no setting but its handler.
package main

import (
	"log"
	"net"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/valyala/fasthttp"
)

func answer(ctx *fasthttp.RequestCtx) {
	switch string(ctx.Path()) {
	case "/slow":
		time.Sleep(time.Second)
		ctx.SuccessString("text/plain", "Hello, world!")
	case "/hello":
		ctx.SuccessString("text/plain", "Hello, world!")
	default:
		ctx.NotFound()
	}
}

func main() {
	server := &fasthttp.Server{Handler: answer}
	stopped := make(chan error, 1)
	go func() {
		signals := make(chan os.Signal, 1)
		signal.Notify(signals, syscall.SIGTERM)
		<-signals
		stopped <- server.Shutdown()
	}()
	if err := server.ListenAndServe(net.JoinHostPort(os.Getenv("HOST"), os.Getenv("PORT"))); err != nil {
		log.Fatal(err)
	}
	if err := <-stopped; err != nil {
		log.Fatal(err)
	}
}
