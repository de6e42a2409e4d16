// Command planted serves GET /hello, slowly now and then, for the reason that CAUSE names and by the size that SIZE gives in
// milliseconds.
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
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// rare is how many requests have one slow one among them.
const rare = 50

var (
	requests atomic.Uint64
	size     time.Duration
	kept     *node
	dropped  atomic.Pointer[node]
)

func main() {
	millis, err := strconv.ParseFloat(os.Getenv("SIZE"), 64)
	if err != nil {
		log.Fatal("SIZE: ", err)
	}
	size = time.Duration(millis * float64(time.Millisecond))
	plant, known := causes[os.Getenv("CAUSE")]
	if !known {
		log.Fatal("CAUSE is not known")
	}
	listener, err := listen(net.JoinHostPort(os.Getenv("HOST"), os.Getenv("PORT")))
	if err != nil {
		log.Fatal(err)
	}
	cause := plant()
	server := &http.Server{Handler: http.HandlerFunc(func(response http.ResponseWriter, request *http.Request) {
		if request.URL.Path != "/hello" {
			http.NotFound(response, request)
			return
		}
		cause(response, requests.Add(1)%rare == 0)
	})}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	go func() {
		<-ctx.Done()
		_ = server.Shutdown(context.Background())
	}()
	_ = server.Serve(listener)
}

type handler func(response http.ResponseWriter, slow bool)

var causes = map[string]func() handler{
	"none":       func() handler { return func(response http.ResponseWriter, _ bool) { answer(response) } },
	"accept":     func() handler { return func(response http.ResponseWriter, _ bool) { answer(response) } },
	"lock":       lock,
	"pool":       pool,
	"garbage":    garbage,
	"work":       work,
	"spin":       spin,
	"downstream": downstream,
	"log":        slowLog,
	"ack":        held,
}

func answer(response http.ResponseWriter) { _, _ = io.WriteString(response, "Hello, world!") }

// lock has all requests take one lock, which a slow one holds.
func lock() handler {
	var mutex sync.Mutex
	return func(response http.ResponseWriter, slow bool) {
		mutex.Lock()
		if slow {
			time.Sleep(size)
		}
		mutex.Unlock()
		answer(response)
	}
}

// pool lets four requests work at a time.
func pool() handler {
	places := make(chan struct{}, 4)
	return func(response http.ResponseWriter, _ bool) {
		places <- struct{}{}
		time.Sleep(size)
		<-places
		answer(response)
	}
}

type node struct {
	next *node
	_    [56]byte
}

// garbage keeps a heap of SIZE MiB in small linked pieces, which is slow to mark, and allocates.
func garbage() handler {
	const each = 1 << 20 / 64
	for range int(size/time.Millisecond) * each {
		kept = &node{next: kept}
	}
	return func(response http.ResponseWriter, _ bool) {
		var list *node
		for range each / 4 {
			list = &node{next: list}
		}
		dropped.Store(list)
		answer(response)
	}
}

// work computes for a while in a slow request.
func work() handler {
	return func(response http.ResponseWriter, slow bool) {
		for begin := time.Now(); slow && time.Since(begin) < size; {
		}
		answer(response)
	}
}

// spin computes for a while in each request.
func spin() handler {
	return func(response http.ResponseWriter, _ bool) {
		for begin := time.Now(); time.Since(begin) < size; {
		}
		answer(response)
	}
}

// downstream asks a slow service in a slow request.
func downstream() handler {
	return func(response http.ResponseWriter, slow bool) {
		if slow {
			found, err := http.Get(os.Getenv("ECHO_URL") + "/echo")
			if err != nil {
				http.Error(response, err.Error(), http.StatusBadGateway)
				return
			}
			_, _ = io.Copy(io.Discard, found.Body)
			_ = found.Body.Close()
		}
		answer(response)
	}
}

// slowLog writes to a full pipe in a slow request; its reader takes its time.
func slowLog() handler {
	ends := make([]int, 2)
	if err := syscall.Pipe(ends); err != nil {
		log.Fatal(err)
	}
	line := make([]byte, 64<<10)
	_, _ = syscall.Write(ends[1], line)
	var wanted = make(chan struct{}, 1024)
	go func() {
		page := make([]byte, 64<<10)
		for range wanted {
			time.Sleep(size)
			_, _ = syscall.Read(ends[0], page)
		}
	}()
	return func(response http.ResponseWriter, slow bool) {
		if slow {
			wanted <- struct{}{}
			_, _ = syscall.Write(ends[1], line)
		}
		answer(response)
	}
}

// held answers a slow request in two writes, the second of which waits for the client's acknowledgement.
func held() handler {
	return func(response http.ResponseWriter, slow bool) {
		if !slow {
			answer(response)
			return
		}
		connection, _, err := response.(http.Hijacker).Hijack()
		if err != nil {
			return
		}
		defer connection.Close()
		_ = connection.(*net.TCPConn).SetNoDelay(false)
		head := "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 13\r\nConnection: close\r\n\r\n"
		_, _ = io.WriteString(connection, head)
		_, _ = io.WriteString(connection, "Hello, ")
		_, _ = io.WriteString(connection, "world!")
		time.Sleep(60 * time.Millisecond)
	}
}

// listen listens; as the cause wants it, with an accept queue of one place and a pause before an accept now and then.
func listen(address string) (net.Listener, error) {
	listener, err := net.Listen("tcp", address)
	if err != nil || os.Getenv("CAUSE") != "accept" {
		return listener, err
	}
	raw, err := listener.(*net.TCPListener).SyscallConn()
	if err == nil {
		err = raw.Control(func(fd uintptr) { err = syscall.Listen(int(fd), 1) })
	}
	return pausing{listener}, err
}

type pausing struct{ net.Listener }

func (listener pausing) Accept() (net.Conn, error) {
	if requests.Load()%rare == rare-1 {
		time.Sleep(size)
	}
	return listener.Listener.Accept()
}
