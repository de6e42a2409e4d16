package main

import (
	"context"
	"net"
	"syscall"
)

// soReusePort is SO_REUSEPORT on Linux, which package syscall does not name on every architecture.
const soReusePort = 0xf

// listen binds with SO_REUSEPORT, so that several processes can share the port. The Go runtime raises
// the soft limit of open files to the hard one by itself.
func listen(ctx context.Context, address string) (net.Listener, error) {
	control := func(_, _ string, conn syscall.RawConn) error {
		var failure error
		if err := conn.Control(func(fd uintptr) {
			failure = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, soReusePort, 1)
		}); err != nil {
			return err
		}
		return failure
	}
	return (&net.ListenConfig{Control: control}).Listen(ctx, "tcp", address)
}
