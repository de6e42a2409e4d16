//! Sockets that do not block: TCP's, and a client's of the Unix domain.

use crate::{count, done, own};
use serde::{Serialize, Serializer};
use socket2::{Domain, Protocol, SockAddr, Socket, Type};
use std::collections::BTreeSet;
use std::fmt;
use std::io;
use std::net::{Shutdown, SocketAddr, TcpListener};
use std::ops::RangeInclusive;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::ptr::null;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// How many connections may wait to be accepted; the kernel caps it at `net.core.somaxconn`.
const BACKLOG: i32 = 65_535;

/// The kernel's number of an option of IP that the library has not (linux/in.h).
const IP_LOCAL_PORT_RANGE: i32 = 51;

/// Where a connection leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Address {
    /// A TCP port.
    Ip(SocketAddr),
    /// A Unix socket, by its path.
    Unix(&'static str),
}

impl Address {
    /// A Unix socket. Its path is kept until the process ends, once however often it is named, so that an address can be
    /// copied.
    #[must_use]
    pub fn unix(path: &str) -> Self {
        static KNOWN: Mutex<BTreeSet<&str>> = Mutex::new(BTreeSet::new());
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = known.get(path).copied().unwrap_or_else(|| {
            let kept: &'static str = Box::leak(path.into());
            known.insert(kept);
            kept
        });
        Self::Unix(kept)
    }

    /// Whether it is this machine's alone: of loopback, an IPv4 address within IPv6 too, or a Unix socket.
    #[must_use]
    pub fn is_local(&self) -> bool {
        match self {
            Self::Ip(address) => address.ip().to_canonical().is_loopback(),
            Self::Unix(_) => true,
        }
    }
}

impl From<SocketAddr> for Address {
    fn from(address: SocketAddr) -> Self {
        Self::Ip(address)
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ip(address) => address.fmt(f),
            Self::Unix(path) => write!(f, "unix:{path}"),
        }
    }
}

impl Serialize for Address {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// One end of a connection, or what becomes one.
#[derive(Debug)]
pub struct Stream(OwnedFd);

impl Stream {
    /// A fresh socket of the family that an address needs.
    ///
    /// # Errors
    /// When the process or the machine may open no more files.
    pub fn new(address: &SocketAddr) -> io::Result<Self> {
        let kind = Type::STREAM.nonblocking().cloexec();
        let socket = Socket::new(Domain::for_address(*address), kind, Some(Protocol::TCP))?;
        Ok(Self(socket.into()))
    }

    /// Connects to a Unix socket, which is done at once or not at all.
    ///
    /// # Errors
    /// What the kernel answers: `WouldBlock` while as many connections wait as the server has room for.
    pub fn to_unix(path: &str) -> io::Result<Self> {
        let socket = Socket::new(Domain::UNIX, Type::STREAM.nonblocking().cloexec(), None)?;
        socket.connect(&SockAddr::unix(path)?)?;
        Ok(Self(socket.into()))
    }

    fn socket(&self) -> socket2::SockRef<'_> {
        socket2::SockRef::from(&self.0)
    }

    /// Lets it bind to an address whose earlier connections are still in TIME_WAIT.
    ///
    /// # Errors
    /// What the kernel answers; the same goes for the other options.
    pub fn reuse_address(&self) -> io::Result<()> {
        self.socket().set_reuse_address(true)
    }

    /// Lets several sockets listen on one port.
    ///
    /// # Errors
    /// As [`Self::reuse_address`].
    pub fn share_port(&self) -> io::Result<()> {
        self.socket().set_reuse_port(true)
    }

    /// Sends small writes at once; accepted connections inherit it.
    ///
    /// # Errors
    /// As [`Self::reuse_address`].
    pub fn no_delay(&self) -> io::Result<()> {
        self.socket().set_tcp_nodelay(true)
    }

    /// Acknowledges what has been received, now (`TCP_QUICKACK`). It does not last: the next one is put off again.
    ///
    /// # Errors
    /// As [`Self::reuse_address`].
    pub fn acknowledge(&self) -> io::Result<()> {
        self.socket().set_tcp_quickack(true)
    }

    /// As [`reset_on_close`].
    ///
    /// # Errors
    /// As [`Self::reuse_address`].
    pub fn reset_on_close(&self) -> io::Result<()> {
        reset_on_close(&self.0)
    }

    /// Has the kernel choose the port at the connect, when the whole four-tuple is known (`IP_BIND_ADDRESS_NO_PORT`).
    ///
    /// # Errors
    /// As [`Self::reuse_address`].
    pub fn late_port(&self) -> io::Result<()> {
        let on = 1i32;
        // SAFETY: the option's value is an int.
        done(unsafe {
            libc::setsockopt(
                self.0.as_raw_fd(),
                libc::IPPROTO_IP,
                libc::IP_BIND_ADDRESS_NO_PORT,
                (&raw const on).cast(),
                size_of::<i32>() as libc::socklen_t,
            )
        })
    }

    /// Has the kernel look for a free port among these alone; `0..=0` for all that it may use.
    ///
    /// # Errors
    /// Linux before 6.3 knows no such option.
    pub fn port_within(&self, ports: &RangeInclusive<u16>) -> io::Result<()> {
        let range = u32::from(*ports.end()) << 16 | u32::from(*ports.start());
        // SAFETY: the option's value is 32 bits.
        done(unsafe {
            libc::setsockopt(
                self.0.as_raw_fd(),
                libc::IPPROTO_IP,
                IP_LOCAL_PORT_RANGE,
                (&raw const range).cast(),
                size_of::<u32>() as libc::socklen_t,
            )
        })
    }

    /// Gives it an address of this machine.
    ///
    /// # Errors
    /// When the address is in use or not of this machine.
    pub fn bind(&self, address: &SocketAddr) -> io::Result<()> {
        self.socket().bind(&SockAddr::from(*address))
    }

    /// Begins to connect; true when it is connected at once.
    ///
    /// # Errors
    /// What the kernel answers at once; what comes later tells [`Self::take_error`].
    pub fn connect(&self, address: &SocketAddr) -> io::Result<bool> {
        match self.socket().connect(&SockAddr::from(*address)) {
            Ok(()) => Ok(true),
            Err(e) if e.raw_os_error() == Some(libc::EINPROGRESS) => Ok(false),
            Err(e) => Err(e),
        }
    }

    /// The error that the connect or a later call has left behind, if any.
    #[must_use]
    pub fn take_error(&self) -> Option<io::Error> {
        self.socket().take_error().unwrap_or_else(Some)
    }

    /// The address that it is bound to.
    ///
    /// # Errors
    /// When it is bound to none.
    pub fn local_address(&self) -> io::Result<SocketAddr> {
        let address = self.socket().local_addr()?;
        address
            .as_socket()
            .ok_or_else(|| io::ErrorKind::AddrNotAvailable.into())
    }

    /// Sends; the error `WouldBlock` means that the socket's buffer is full.
    ///
    /// # Errors
    /// What the kernel answers.
    #[inline]
    pub fn send(&self, bytes: &[u8]) -> io::Result<usize> {
        let fd = self.0.as_raw_fd();
        // SAFETY: the bytes are valid for their length.
        count(unsafe { libc::send(fd, bytes.as_ptr().cast(), bytes.len(), libc::MSG_NOSIGNAL) })
    }

    /// Sends bytes that wait, as far as there is room, and removes those.
    ///
    /// # Errors
    /// What the kernel answers, unless it has no room.
    pub fn send_waiting(&self, waiting: &mut Vec<u8>) -> io::Result<()> {
        while !waiting.is_empty() {
            match self.send(waiting) {
                Ok(sent) => drop(waiting.drain(..sent)),
                Err(error) => match error.kind() {
                    io::ErrorKind::Interrupted => {}
                    io::ErrorKind::WouldBlock => break,
                    _ => return Err(error),
                },
            }
        }
        Ok(())
    }

    /// Receives; 0 when the other end has closed, the error `WouldBlock` when nothing is there.
    ///
    /// # Errors
    /// What the kernel answers.
    #[inline]
    pub fn receive(&self, buffer: &mut [u8]) -> io::Result<usize> {
        let (no_address, no_length) = (null::<u8>(), null::<u8>());
        // Not by `recv`: in a process of several threads the library makes that a cancellation point, at two locked
        // instructions a call.
        // SAFETY: the buffer is valid for its length; no address is asked for.
        let received = unsafe {
            libc::syscall(
                libc::SYS_recvfrom,
                self.0.as_raw_fd(),
                buffer.as_mut_ptr(),
                buffer.len(),
                0,
                no_address,
                no_length,
            )
        };
        count(received as isize)
    }

    /// Sends no more: the other end reads an end after the last byte.
    ///
    /// # Errors
    /// When it is not connected.
    pub fn end_sending(&self) -> io::Result<()> {
        self.socket().shutdown(Shutdown::Write)
    }

    /// Starts listening.
    ///
    /// # Errors
    /// When it is not bound, or the port is taken.
    pub fn listen(self) -> io::Result<TcpListener> {
        self.socket().listen(BACKLOG)?;
        Ok(self.0.into())
    }
}

impl AsFd for Stream {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl AsRawFd for Stream {
    fn as_raw_fd(&self) -> RawFd {
        self.0.as_raw_fd()
    }
}

/// Has the next close of a socket send a reset, so that nothing stays in TIME_WAIT on either side.
///
/// # Errors
/// What the kernel answers.
pub fn reset_on_close(socket: &impl AsFd) -> io::Result<()> {
    socket2::SockRef::from(socket).set_linger(Some(Duration::ZERO))
}

/// Has a listener refuse connections, and keeps its port. Those that wait to be accepted are reset.
///
/// # Errors
/// When it does not listen.
pub fn stop_listening(listener: &TcpListener) -> io::Result<()> {
    socket2::SockRef::from(listener).shutdown(Shutdown::Read)
}

/// Has a listener that refuses accept connections again.
///
/// # Errors
/// What the kernel answers.
pub fn listen_again(listener: &TcpListener) -> io::Result<()> {
    socket2::SockRef::from(listener).listen(BACKLOG)
}

/// Accepts one connection, in one call, as one that does not block.
///
/// # Errors
/// `WouldBlock` when none waits, [`no_more_files`] when none can be opened.
pub fn accept(listener: &TcpListener) -> io::Result<Stream> {
    let flags = libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
    let (no_address, no_length) = (std::ptr::null_mut(), std::ptr::null_mut());
    // SAFETY: the peer's address is not asked for.
    own(unsafe { libc::accept4(listener.as_raw_fd(), no_address, no_length, flags) }).map(Stream)
}

/// Whether a process or the machine may open no more files, or has no memory for them.
#[must_use]
pub fn no_more_files(error: &io::Error) -> bool {
    out_of_files(error) || out_of_memory(error)
}

/// Whether the limit of open files was hit.
#[must_use]
pub fn out_of_files(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EMFILE | libc::ENFILE))
}

/// Whether the kernel had no memory for a socket.
#[must_use]
pub fn out_of_memory(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::ENOBUFS | libc::ENOMEM))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::poll::{Side, ready};

    const PATIENCE: Duration = Duration::from_secs(5);

    fn anywhere() -> SocketAddr {
        "127.0.0.1:0".parse().unwrap()
    }

    fn listener() -> TcpListener {
        let socket = Stream::new(&anywhere()).unwrap();
        socket.reuse_address().unwrap();
        socket.bind(&anywhere()).unwrap();
        socket.listen().unwrap()
    }

    #[test]
    fn bytes_go_both_ways_and_an_end_is_an_end() {
        let listener = listener();
        let address = listener.local_addr().unwrap();
        let ours = Stream::new(&address).unwrap();
        ours.late_port().unwrap();
        ours.bind(&anywhere()).unwrap();
        let at_once = ours.connect(&address).unwrap();
        assert!(at_once || ready(ours.as_fd(), Side::Write, PATIENCE));
        assert!(ours.take_error().is_none());
        assert!(ready(listener.as_fd(), Side::Read, PATIENCE));
        let theirs = accept(&listener).unwrap();
        let mut buffer = [0; 16];
        let nothing = theirs.receive(&mut buffer).unwrap_err();
        assert_eq!(nothing.kind(), io::ErrorKind::WouldBlock);
        assert_eq!(ours.send(b"ping").unwrap(), 4);
        assert!(ready(theirs.as_fd(), Side::Read, PATIENCE));
        assert_eq!(theirs.receive(&mut buffer).unwrap(), 4);
        drop(ours);
        assert!(ready(theirs.as_fd(), Side::Read, PATIENCE));
        assert_eq!(theirs.receive(&mut buffer).unwrap(), 0);
    }

    #[test]
    fn a_unix_socket_is_connected_to_at_once_or_not_at_all() {
        let path = std::env::temp_dir().join(format!("touchstone-sys-{}.sock", std::process::id()));
        let text = path.to_str().unwrap();
        assert!(Stream::to_unix(text).is_err());
        let listener = std::os::unix::net::UnixListener::bind(&path).unwrap();
        let ours = Stream::to_unix(text).unwrap();
        assert_eq!(ours.send(b"ping").unwrap(), 4);
        let (mut theirs, _) = listener.accept().unwrap();
        let mut buffer = [0; 4];
        std::io::Read::read_exact(&mut theirs, &mut buffer).unwrap();
        assert_eq!(&buffer, b"ping");
        std::fs::remove_file(&path).unwrap();
        assert_eq!(Address::unix("/a"), Address::unix("/a"));
        assert_eq!(Address::unix("/a").to_string(), "unix:/a");
    }

    #[test]
    fn a_close_after_the_option_is_a_reset() {
        let listener = listener();
        let address = listener.local_addr().unwrap();
        let ours = Stream::new(&address).unwrap();
        let at_once = ours.connect(&address).unwrap();
        assert!(at_once || ready(ours.as_fd(), Side::Write, PATIENCE));
        assert!(ready(listener.as_fd(), Side::Read, PATIENCE));
        let theirs = accept(&listener).unwrap();
        ours.reset_on_close().unwrap();
        drop(ours);
        assert!(ready(theirs.as_fd(), Side::Read, PATIENCE));
        let error = theirs.receive(&mut [0; 16]).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::ConnectionReset);
    }

    #[test]
    fn nobody_listens_is_refused() {
        let address = listener().local_addr().unwrap();
        let ours = Stream::new(&address).unwrap();
        let refused = match ours.connect(&address) {
            Err(error) => Some(error),
            Ok(_) => {
                assert!(ready(ours.as_fd(), Side::Write, PATIENCE));
                ours.take_error()
            }
        };
        assert_eq!(refused.unwrap().kind(), io::ErrorKind::ConnectionRefused);
    }
}
