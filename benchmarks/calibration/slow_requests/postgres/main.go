// Command planted serves GET /hello with a query to PostgreSQL. Before one in fifty, another transaction locks the row that the
// request wants, for SIZE milliseconds. At its end it logs for how long that held up requests.
package main

import (
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

const rare = 50

func main() {
	millis, err := strconv.Atoi(os.Getenv("SIZE"))
	if err != nil {
		log.Fatal("SIZE: ", err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	pool, err := pgxpool.New(context.Background(), os.Getenv("DATABASE_URL"))
	if err != nil {
		log.Fatal(err)
	}
	var requests atomic.Uint64
	var truth delays
	server := &http.Server{
		Addr: net.JoinHostPort(os.Getenv("HOST"), os.Getenv("PORT")),
		Handler: http.HandlerFunc(func(response http.ResponseWriter, request *http.Request) {
			if request.URL.Path != "/hello" {
				http.NotFound(response, request)
				return
			}
			row := 2
			if requests.Add(1)%rare == 0 {
				row = 1
				held := make(chan error)
				go hold(pool, time.Duration(millis)*time.Millisecond, held)
				if err := <-held; err != nil {
					http.Error(response, err.Error(), http.StatusInternalServerError)
					return
				}
			}
			begin := time.Now()
			query := "SELECT n FROM counters WHERE id = $1"
			if row == 1 {
				query = "UPDATE counters SET n = n + 1 WHERE id = $1"
			}
			if _, err := pool.Exec(request.Context(), query, row); err != nil {
				http.Error(response, err.Error(), http.StatusInternalServerError)
				return
			}
			truth.add(time.Since(begin))
			_, _ = io.WriteString(response, "Hello, world!")
		}),
	}
	go func() {
		<-ctx.Done()
		_ = server.Shutdown(context.Background())
	}()
	_ = server.ListenAndServe()
	truth.log()
}

// hold locks the row for a while, and says when it has it.
func hold(pool *pgxpool.Pool, much time.Duration, held chan<- error) {
	transaction, err := pool.Begin(context.Background())
	if err == nil {
		_, err = transaction.Exec(context.Background(), "UPDATE counters SET n = n + 1 WHERE id = 1")
	}
	held <- err
	if err != nil {
		return
	}
	time.Sleep(much)
	_ = transaction.Commit(context.Background())
}
