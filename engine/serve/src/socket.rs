//! Sockets, epoll and event descriptors: the system calls of a worker.

use socket2::SockAddr;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

/// How many connections may wait to be accepted; the kernel caps it at `net.core.somaxconn`.
const BACKLOG: i32 = 65_535;

/// A non-blocking socket bound with `SO_REUSEADDR` and `SO_REUSEPORT`, not yet listening.
pub fn bind(address: &SocketAddr) -> io::Result<OwnedFd> {
    let family = if address.is_ipv4() {
        libc::AF_INET
    } else {
        libc::AF_INET6
    };
    // SAFETY: no pointers.
    let fd = unsafe {
        libc::socket(
            family,
            libc::SOCK_STREAM | libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC,
            0,
        )
    };
    let socket = own(fd)?;
    for option in [libc::SO_REUSEADDR, libc::SO_REUSEPORT] {
        set(&socket, libc::SOL_SOCKET, option, 1)?;
    }
    // Inherited by accepted sockets, which saves a call for each.
    set(&socket, libc::IPPROTO_TCP, libc::TCP_NODELAY, 1)?;
    let address = SockAddr::from(*address);
    // SAFETY: the address is valid for its length.
    let done = unsafe { libc::bind(socket.as_raw_fd(), address.as_ptr().cast(), address.len()) };
    if done == 0 {
        Ok(socket)
    } else {
        Err(io::Error::last_os_error())
    }
}

/// Starts listening.
pub fn listen(socket: OwnedFd) -> io::Result<TcpListener> {
    // SAFETY: no pointers.
    let done = unsafe { libc::listen(socket.as_raw_fd(), BACKLOG) };
    if done == 0 {
        Ok(socket.into())
    } else {
        Err(io::Error::last_os_error())
    }
}

/// The address that a bound socket has.
pub fn local_address(socket: OwnedFd) -> io::Result<(SocketAddr, OwnedFd)> {
    let listener = TcpListener::from(socket);
    Ok((listener.local_addr()?, listener.into()))
}

/// Accepts one connection, non-blocking.
pub fn accept(listener: RawFd) -> io::Result<OwnedFd> {
    let flags = libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
    // SAFETY: the peer's address is not asked for.
    own(unsafe { libc::accept4(listener, std::ptr::null_mut(), std::ptr::null_mut(), flags) })
}

/// Sends; the error `WouldBlock` means that the socket's buffer is full.
pub fn send(fd: RawFd, bytes: &[u8]) -> io::Result<usize> {
    // SAFETY: the bytes are valid for their length.
    let n = unsafe { libc::send(fd, bytes.as_ptr().cast(), bytes.len(), libc::MSG_NOSIGNAL) };
    usize::try_from(n).map_err(|_| io::Error::last_os_error())
}

/// Receives into spare room.
pub fn receive(fd: RawFd, buffer: &mut [u8]) -> io::Result<usize> {
    // SAFETY: the buffer is valid for its length.
    let n = unsafe { libc::recv(fd, buffer.as_mut_ptr().cast(), buffer.len(), 0) };
    usize::try_from(n).map_err(|_| io::Error::last_os_error())
}

/// Has the next close send a reset.
pub fn reset_on_close(fd: RawFd) {
    let linger = libc::linger {
        l_onoff: 1,
        l_linger: 0,
    };
    let size = size_of::<libc::linger>() as u32;
    // SAFETY: the option's value is a linger.
    unsafe {
        libc::setsockopt(
            fd,
            libc::SOL_SOCKET,
            libc::SO_LINGER,
            (&raw const linger).cast(),
            size,
        )
    };
}

fn set(socket: &OwnedFd, level: i32, name: i32, value: i32) -> io::Result<()> {
    let size = size_of::<i32>() as u32;
    // SAFETY: the option's value is an int.
    let done = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            level,
            name,
            (&raw const value).cast(),
            size,
        )
    };
    if done == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

fn own(fd: RawFd) -> io::Result<OwnedFd> {
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the descriptor has just been opened and belongs to no one else.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// A counter that wakes an epoll instance (eventfd(2)).
pub struct Bell(OwnedFd);

impl Bell {
    pub fn new() -> io::Result<Self> {
        // SAFETY: no pointers.
        own(unsafe { libc::eventfd(0, libc::EFD_NONBLOCK | libc::EFD_CLOEXEC) }).map(Self)
    }

    pub fn ring(&self) {
        let one = 1u64;
        // SAFETY: eight valid bytes.
        unsafe { libc::write(self.0.as_raw_fd(), (&raw const one).cast(), 8) };
    }

    pub fn silence(&self) {
        let mut count = 0u64;
        // SAFETY: room for eight bytes.
        unsafe { libc::read(self.0.as_raw_fd(), (&raw mut count).cast(), 8) };
    }

    pub fn fd(&self) -> RawFd {
        self.0.as_raw_fd()
    }
}

/// An epoll instance.
pub struct Poller {
    epoll: OwnedFd,
    fine: bool,
}

impl Poller {
    pub fn new() -> io::Result<Self> {
        // SAFETY: no pointers.
        let epoll = own(unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) })?;
        Ok(Self { epoll, fine: true })
    }

    /// Registers a descriptor under its own number, once, edge-triggered.
    pub fn add(&self, fd: RawFd, events: i32) -> io::Result<()> {
        let mut event = libc::epoll_event {
            events: (events | libc::EPOLLET) as u32,
            u64: fd as u64,
        };
        // SAFETY: a valid event.
        let done = unsafe {
            libc::epoll_ctl(
                self.epoll.as_raw_fd(),
                libc::EPOLL_CTL_ADD,
                fd,
                &raw mut event,
            )
        };
        if done == 0 {
            Ok(())
        } else {
            Err(io::Error::last_os_error())
        }
    }

    /// Waits for events, to the nanosecond where the kernel can (epoll_pwait2, Linux 5.11); before that through ppoll(2),
    /// which takes nanoseconds as well.
    pub fn wait(&mut self, events: &mut [libc::epoll_event], patience_ns: Option<u64>) -> usize {
        let time = patience_ns.map(|ns| libc::timespec {
            tv_sec: (ns / 1_000_000_000) as i64,
            tv_nsec: (ns % 1_000_000_000) as i64,
        });
        let time = time.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
        let (fd, room) = (self.epoll.as_raw_fd(), events.len() as i32);
        if self.fine {
            let no_mask = std::ptr::null::<libc::sigset_t>();
            // SAFETY: room for `room` events, a valid time or none, no signal mask.
            let n = unsafe {
                libc::syscall(
                    libc::SYS_epoll_pwait2,
                    fd,
                    events.as_mut_ptr(),
                    room,
                    time,
                    no_mask,
                    8,
                )
            };
            if n >= 0 {
                return n as usize;
            }
            self.fine = io::Error::last_os_error().raw_os_error() != Some(libc::ENOSYS);
            return 0;
        }
        let mut entry = libc::pollfd {
            fd,
            events: libc::POLLIN,
            revents: 0,
        };
        // SAFETY: as above.
        let n = unsafe {
            libc::ppoll(&raw mut entry, 1, time, std::ptr::null());
            libc::epoll_wait(fd, events.as_mut_ptr(), room, 0)
        };
        usize::try_from(n).unwrap_or(0)
    }
}
