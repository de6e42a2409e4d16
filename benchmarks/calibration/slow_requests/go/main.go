// Command planted serves GET /hello, slowly now and then, for the reason that CAUSE names and by the size that SIZE gives in
// milliseconds. At its end it logs for how long the cause held up requests around the 99th percentile and around the median.
package main

import (
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"
)

// rare is how many requests have one slow one among them.
const rare = 50

var (
	requests atomic.Uint64
	size     time.Duration
	kept     *node
	dropped  atomic.Pointer[node]
	truth    delays
)

func main() {
	millis, err := strconv.ParseFloat(os.Getenv("SIZE"), 64)
	if err != nil {
		log.Fatal("SIZE: ", err)
	}
	size = time.Duration(millis * float64(time.Millisecond))
	plant, known := causes[cause()]
	if !known {
		log.Fatal("CAUSE is not known")
	}
	listener, err := listen(net.JoinHostPort(os.Getenv("HOST"), os.Getenv("PORT")))
	if err != nil {
		log.Fatal(err)
	}
	held := plant()
	server := &http.Server{Handler: http.HandlerFunc(func(response http.ResponseWriter, request *http.Request) {
		if request.URL.Path != "/hello" {
			http.NotFound(response, request)
			return
		}
		truth.add(held(response, requests.Add(1)%rare == 0))
	})}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	go func() {
		<-ctx.Done()
		_ = server.Shutdown(context.Background())
	}()
	_ = server.Serve(listener)
	truth.log()
}

// cause is what is planted; nothing in the sound twin.
func cause() string {
	if os.Getenv("SOUND") != "" {
		return "none"
	}
	return os.Getenv("CAUSE")
}

// handler answers a request, and gives how long the cause held it up.
type handler func(response http.ResponseWriter, slow bool) time.Duration

var causes = map[string]func() handler{
	"none":       fast,
	"accept":     fast,
	"quota":      quota,
	"lock":       lock,
	"pool":       pool,
	"garbage":    garbage,
	"work":       work,
	"neighbour":  spin,
	"downstream": downstream,
	"log":        slowLog,
	"ack":        held,
}

func answer(response http.ResponseWriter) { _, _ = io.WriteString(response, "Hello, world!") }

func fast() handler {
	return func(response http.ResponseWriter, _ bool) time.Duration {
		answer(response)
		return 0
	}
}

// lock has all requests take one lock, which a slow one holds.
func lock() handler {
	var mutex sync.Mutex
	return func(response http.ResponseWriter, slow bool) time.Duration {
		begin := time.Now()
		mutex.Lock()
		if slow {
			time.Sleep(size)
		}
		mutex.Unlock()
		took := time.Since(begin)
		answer(response)
		return took
	}
}

// pool lets four requests work at a time.
func pool() handler {
	places := make(chan struct{}, 4)
	return func(response http.ResponseWriter, _ bool) time.Duration {
		begin := time.Now()
		places <- struct{}{}
		time.Sleep(size)
		<-places
		took := time.Since(begin)
		answer(response)
		return took
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
	return func(response http.ResponseWriter, _ bool) time.Duration {
		begin := time.Now()
		var list *node
		for range each / 4 {
			list = &node{next: list}
		}
		dropped.Store(list)
		took := time.Since(begin)
		answer(response)
		return took
	}
}

// work uses SIZE milliseconds of CPU in a slow request.
func work() handler {
	return func(response http.ResponseWriter, slow bool) (used time.Duration) {
		if slow {
			burn(size)
			used = size
		}
		answer(response)
		return used
	}
}

// spin uses 2 ms of CPU in each request; what it takes beyond them, others had the CPU.
func spin() handler {
	return func(response http.ResponseWriter, _ bool) time.Duration {
		begin := time.Now()
		burn(2 * time.Millisecond)
		took := time.Since(begin) - 2*time.Millisecond
		answer(response)
		return took
	}
}

// quota uses up SIZE milliseconds of CPU next to the requests, in short pieces, every 700 ms.
func quota() handler {
	go func() {
		for {
			time.Sleep(700 * time.Millisecond)
			for range int(size / time.Millisecond) {
				burn(time.Millisecond)
				runtime.Gosched()
			}
		}
	}()
	return fast()
}

// burn uses CPU of its thread.
func burn(much time.Duration) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for begin := threadCPU(); threadCPU()-begin < much; {
	}
}

func threadCPU() time.Duration {
	const clockThreadCPU = 3
	var now syscall.Timespec
	_, _, _ = syscall.Syscall(syscall.SYS_CLOCK_GETTIME, clockThreadCPU, uintptr(unsafe.Pointer(&now)), 0)
	return time.Duration(now.Nano())
}

// downstream asks a slow service in a slow request.
func downstream() handler {
	return func(response http.ResponseWriter, slow bool) time.Duration {
		begin := time.Now()
		if slow {
			found, err := http.Get(os.Getenv("ECHO_URL") + "/echo")
			if err != nil {
				http.Error(response, err.Error(), http.StatusBadGateway)
				return 0
			}
			_, _ = io.Copy(io.Discard, found.Body)
			_ = found.Body.Close()
		}
		took := time.Since(begin)
		answer(response)
		return took
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
	return func(response http.ResponseWriter, slow bool) time.Duration {
		begin := time.Now()
		if slow {
			wanted <- struct{}{}
			_, _ = syscall.Write(ends[1], line)
		}
		took := time.Since(begin)
		answer(response)
		return took
	}
}

// held answers a slow request in two writes, the second of which waits for the client's acknowledgement.
func held() handler {
	return func(response http.ResponseWriter, slow bool) time.Duration {
		if !slow {
			answer(response)
			return 0
		}
		connection, _, err := response.(http.Hijacker).Hijack()
		if err != nil {
			return 0
		}
		defer connection.Close()
		_ = connection.(*net.TCPConn).SetNoDelay(false)
		head := "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 13\r\nConnection: close\r\n\r\n"
		_, _ = io.WriteString(connection, head)
		_, _ = io.WriteString(connection, "Hello, ")
		_, _ = io.WriteString(connection, "world!")
		time.Sleep(60 * time.Millisecond)
		return 0
	}
}

// listen listens; as the cause wants it, with an accept queue of one place and a pause before an accept now and then.
func listen(address string) (net.Listener, error) {
	listener, err := net.Listen("tcp", address)
	if err != nil || cause() != "accept" {
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
